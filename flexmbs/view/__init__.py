"""Pictures of meshes and results."""
