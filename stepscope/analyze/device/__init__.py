"""Questions about a device: how it is fed, what it holds, what its time depends on."""
