// Made from the Python records by web/make_types.py: change those and run it again.

export const PHASES: Record<string, string> = {
  "input": "#fd2e22",
  "files": "#85f08a",
  "prepare": "#f7cd31",
  "transfer": "#65c2fd",
  "forward": "#1f40f0",
  "backward": "#a80e2a",
  "optimizer": "#8baa81",
  "communication": "#ce9ac2",
  "sync": "#8948a9",
  "compute": "#7f0aa5",
  "compile": "#ac5d86",
  "evaluation": "#55a0fd",
  "checkpoint": "#fb8e03",
  "logging": "#6f8d4f",
  "gc": "#aa7abe",
  "python": "#6178fa",
  "profiler": "#cee1d8",
  "unattributed": "#c0c4c1",
  "outliers": "#4e5950",
  "Device Compute": "#7f0aa5",
  "Device to Device": "#65c2fd",
  "Device Collectives": "#ce9ac2",
  "Input": "#fd2e22",
  "Output": "#fb8e03",
  "Kernel Launch": "#f7cd31",
  "Host Compute": "#6178fa",
  "Compilation": "#ac5d86",
  "All Others": "#c0c4c1"
};

export const PARTS: Record<string, string> = {
  "imports": "#97c0c7",
  "set-up": "#668e95",
  "steps": "#395f66",
  "evaluation": "#4f767d",
  "saving": "#7ea7ae",
  "teardown": "#b0dae1"
};

export const RANKS: Record<string, string> = {
  "input": "#fd2e22",
  "own work": "#446b72",
  "communication itself": "#ce9ac2",
  "waiting for others": "#6e2a5a"
};
