"""Who can fill the other seat: somebody honest, and those who err in one named way each."""
