"""Many cases in one world and one episode: the skill is to finish them."""
