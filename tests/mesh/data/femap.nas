$ In the manner of Femap, free format
BEGIN BULK
INCLUDE 'femap_grids.inc'
$ Femap Property 3 : wedge body
PSOLID,3,1,0,,,,,SMECH
CPENTA,9,3,11,12,13,14,15,16,+
+,17,18,19,20,21,22,23,24,+
+,25
SET1,4,11,THRU,13
SET3,6,ELEM,9
ENDDATA
