"""What a fix would gain."""
