// Made from the Python records by web/make_types.py: change those and run it again.

import type {
  DeviceDetails, TracedRanks,
} from "./device";

// How the script ended.
export interface Ending {
  how: "exited" | "killed" | "running" | "stopped" | "unknown"; exit_status: number | null;
  signal: string | null; words: string;
}

// One part of the whole run; the parts sum to the process's wall time.
export interface Part {
  category: string; ns: number; share: number;
}

export interface Spread {
  mean: number; median: number; p10: number; p90: number;
}

export interface Rate {
  per_s: number; samples_per_s: number | null; samples_are: string | null;
}

// One exclusive category of the mean step.
export interface Share {
  category: string; share: number; ms: number; device_ms: number | null; steps: number | null;
}

// What recording cost, as a share of the time in measured steps (of the run without steps).
export interface Overhead {
  share: number; budget: number; thinned: string[]; windows: number; windows_ns: number;
}

export interface Step {
  start_ns: number; duration_ns: number; phases: Record<string, number>; measured: boolean;
  estimated: boolean; number: number;
}

export interface StepsAnswer {
  steps: number; warmup: number | null; measured: number | null; step_ms: Spread | null;
  rate: Rate | null; breakdown: Share[] | null;
  bound: "host" | "device" | "input" | "communication" | null; overhead: Overhead | null;
  reason: string | null; anchor: string | null; each?: Step[]; notes: string[];
  without_core: number | null;
}

export interface Location {
  file: string; line: number; function: string | null;
}

export interface SummaryAnswer {
  run: string; command: string[]; started: string; ending: Ending; wall_ns: number; parts: Part[];
  steps: StepsAnswer; hottest: Location[]; hottest_ns: number[]; processes: number; notes: string[];
  hottest_source: (string | null)[]; has: string[]; can_repeat: boolean; is_trace: boolean;
  contents: string[]; trace_ns: number; rank: number | null;
}

// A process, as answers name it. Workers of one parent are reported together: pid null.
export interface Process {
  role: "main" | "worker" | "rank"; rank: number | null; pid: number | null;
}

// Ratio of mean measured step times: before the fix to after it.
export interface Speedup {
  expected: number; low: number; high: number | null;
}

export interface Finding {
  id: string; severity: "high" | "medium" | "low"; title: string; share: number; evidence: string[];
  confidence: string; location: Location | null; process: Process; speedup: Speedup; fix: string;
  patch: string | null; trial: string | null; library: string | null; source: string | null;
  gain: string | null; measured: boolean; then: string | null;
}

export interface NotJudged {
  id: string; reason: string;
}

// A step that took far longer than the others, and what happened in it.
export interface SlowStep {
  step: number; duration_ms: number; usual_ms: number; why: string; number: number;
}

export interface FindingsAnswer {
  verdict: string; findings: Finding[]; not_judged: NotJudged[]; outliers: SlowStep[];
  notes: string[];
}

// A line that called an operator.
export interface OpPlace {
  file: string; line: number; calls: number; self_cpu_ns: number;
}

// An operator, as torch's own tables count it. Bytes: allocated minus freed.
export interface OpRow {
  name: string; input_shapes: unknown[] | null; calls: number; self_cpu_ns: number;
  total_cpu_ns: number; self_device_ns: number | null; total_device_ns: number | null;
  self_cpu_bytes: number | null; self_device_bytes: number | null; location: Location | null;
  locations: OpPlace[]; total_cpu_bytes: number | null; flops: number | null;
}

// A stretch in which operators were recorded.
export interface OpsWindow {
  file: string; start_ns: number | null; duration_ns: number; steps: number | null;
  operators: number; of_script: boolean; slowdown: number | null;
}

export interface OpsAnswer {
  ops: OpRow[]; windows: OpsWindow[]; notes: string[]; self_cpu_ns: number; self_device_ns: number;
}

// One of the sides: a run, or several of the same script.
export interface ComparedRun {
  run: string; steps: number; step_ms: Spread; per_s: number; samples_per_s: number | null;
  batch_size: number | null; cpu_ms: number | null; without_core: number | null;
  peak_bytes: number | null; runs: number;
}

// Something that takes time in a step, before and after. Those of one kind, `what`, sum to the whole step, so their changes sum to the whole change.
export interface Change {
  what: "phase" | "function" | "line" | "op" | "kernel"; name: string; before_ns: number;
  after_ns: number; location: Location | null; share: number | null;
}

// A speed-up on some basis, and the range that holds it in 95 of 100 comparisons.
export interface Ratio {
  speedup: number; low: number; high: number; basis: string; significant: boolean;
}

// Something besides the script that differs, and what follows for the comparison.
export interface Difference {
  what: string; before: string; after: string; effect: string;
}

export interface FindingChange {
  id: string; title: string; change: "gone" | "new" | "still there"; before: number | null;
  after: number | null; location: Location | null;
}

// BEFORE against AFTER; above 1, AFTER is faster.
export interface ComparisonAnswer {
  speedup: number; low: number; high: number; basis: string; significant: boolean; verdict: string;
  runs: ComparedRun[]; changes: Change[]; cpu: Ratio | null; decided_on: string;
  differences: Difference[]; findings: FindingChange[]; notes: string[];
}

// The script as it is.
export interface TrialBaseline {
  step_ms: number; per_s: number; samples_per_s: number | null; steps: number; verdict: string;
  run: string;
}

// The script against itself: ratios of the control's rounds.
export interface Noise {
  low: number; high: number;
}

// The losses with the fix, beside those without it.
export interface LossCheck {
  same: boolean | null; how: "bitwise" | "within tolerance" | "different" | "unknown";
  as_promised: boolean; max_difference: number | null; words: string;
}

// A fix, tried on top of those that were kept before it.
export interface Rung {
  fix: string | null; title: string; finding: string | null; predicted: Speedup | null;
  status: "kept" | "rejected" | "failed" | "skipped"; reason: string | null; what: string | null;
  speedup: number | null; low: number | null; high: number | null; rounds: number;
  step_ms: number | null; loss: LossCheck | null; patch: string | null; ceiling: number | null;
  run: string | null; location: Location | null; is_ceiling: boolean;
}

export interface TrialAnswer {
  folder: string; baseline: TrialBaseline; noise: Noise | null; rungs: Rung[];
  together: Speedup | null; runs: number; seconds: number; stopped: string | null; notes: string[];
  gained: number | null; step_seconds: number | null;
}

export interface RegionRow {
  name: string; depth: number; parent: string | null; process: Process; calls: number;
  total_ns: number; self_ns: number; mean_ns: number; per_step_ns: number | null;
  share: number | null;
}

export interface RegionsAnswer {
  regions: RegionRow[]; notes: string[];
}

// An action of a framework's own profiler, by the path of the actions around it.
export interface ActionRow {
  name: string; depth: number; calls: number; total_ns: number; self_ns: number; mean_ns: number;
  share: number;
}

export interface ActionsAnswer {
  actions: ActionRow[]; total_ns: number; notes: string[];
}

// What ran on the device.
export interface KernelRow {
  name: string; kind: "kernel" | "memcpy" | "memset"; device: number | null; calls: number;
  total_ns: number; mean_ns: number; share: number; operator: string | null;
  location: Location | null;
}

export interface KernelsAnswer {
  kernels: KernelRow[]; windows: OpsWindow[]; notes: string[];
}

// Why nothing ran: what came next was launched too late; the gap between two kernels is under 30 µs; or something else (another stream, an event, memory). They sum to the idle time.
export interface IdleSplit {
  host_wait_ns: number; kernel_wait_ns: number; other_ns: number;
}

export interface DeviceKernel {
  name: string; calls: number; total_ns: number;
}

// One stream of a device, from the first thing that ran on it to the last.
export interface StreamRow {
  stream: number; calls: number; busy_ns: number; compute_ns: number; communication_ns: number;
  memcpy_ns: number; memset_ns: number; idle_ns: number; idle: IdleSplit;
}

// What a device did in one step. Traces of torch mark steps on the host: here each lasts until what it launched is done.
export interface DeviceStep {
  number: number; start_ns: number; duration_ns: number; busy_ns: number; compute_ns: number;
  communication_ns: number; exposed_communication_ns: number; memcpy_ns: number; memset_ns: number;
  idle_ns: number;
}

// One device of one rank. Compute, communication and copies may overlap each other.
export interface DeviceRow {
  rank: number | null; steps: number | null; wall_ns: number; busy_ns: number; compute_ns: number;
  communication_ns: number; exposed_communication_ns: number; memcpy_ns: number; idle_ns: number;
  idle: IdleSplit; kernels: DeviceKernel[]; device: number | null; trace: string | null;
  memset_ns: number; streams: StreamRow[]; each_step: DeviceStep[]; details: DeviceDetails | null;
}

export interface DeviceAnswer {
  ranks: DeviceRow[]; notes: string[];
}

// The loader that the steps' batches come from. Times are for the measured steps.
export interface LoaderRow {
  workers: number | null; batch_size: number | null; wait_ms: number; share: number;
  steps_that_waited: number; steps: number; longest_ms: number;
}

// A stage of the input pipeline; all workers together.
export interface StageRow {
  process: Process; stage: string; ms_per_batch: number; share: number; calls: number | null;
  parallelism: number | null;
}

// A line of the user's own code that loads, callees included.
export interface InputLine {
  file: string; line: number; function: string | null; ms_per_batch: number; share: number;
  source: string | null;
}

// What the user's code (or the loader itself) calls in a library while it loads.
export interface InputFunction {
  function: string; file: string; share: number;
}

export interface InputAnswer {
  loader: LoaderRow | null; limit: "work" | "number" | "transfer" | "nothing" | "start-up" | null;
  why: string | null; stages: StageRow[]; lines: InputLine[]; library: InputFunction[];
  start_up_ms: number | null; busy: number | null; cores: number | null; idle_cores: number | null;
  reason: string | null; notes: string[]; limited_by: string | null; operations: StageRow[];
}

export interface FileRow {
  path: string; opens: number; writing: boolean; steps: number | null; total_ns: number;
  estimated: boolean; location: Location | null; process: Process; share: number;
  importing: boolean;
}

export interface FilesAnswer {
  files: FileRow[]; read_bytes: number | null; written_bytes: number | null; notes: string[];
}

export interface MemoryPoint {
  at_ns: number; resident_bytes: number;
}

export interface ProcessMemory {
  process: Process; first_bytes: number; peak_bytes: number; last_bytes: number;
  growth_bytes_per_step: number | null; points: MemoryPoint[];
}

// In the operator windows: what a line's operators allocated, and how much of it was kept.
export interface LineMemory {
  location: Location; process: Process; alloc_bytes: number; kept_bytes: number;
  source: string | null;
}

export interface MemoryAnswer {
  processes: ProcessMemory[]; machine_bytes: number | null; limit_bytes: number | null;
  notes: string[]; lines: LineMemory[] | null;
}

// step = own + communication; waiting is a part of communication, input of its own time. Without steps, that is all of a trace.
export interface RankRow {
  rank: number; host: string; pid: number; steps: number; step_ms: number | null;
  own_ms: number | null; communication_ms: number | null; waiting_ms: number | null;
  input_ms: number | null; status: string; transfer_ms: number | null;
}

// The rank that the others wait for.
export interface Straggler {
  rank: number; why: string; location: Location | null; cost_ms: number; source: string | null;
}

export interface RanksAnswer {
  ranks: RankRow[]; straggler: Straggler | null; skew_ms: number | null; expected: number | null;
  reason: string | null; samples_per_s: number | null; notes: string[]; traced: TracedRanks | null;
}

export interface ProcessRow {
  process: Process; parent_pid: number | null; host: string; argv: string[]; wall_ns: number;
  cpu_ns: number | null; read_bytes: number | null; written_bytes: number | null;
  voluntary_switches: number | null; involuntary_switches: number | null; peak_bytes: number | null;
  threads: number; status: string; overhead_share: number | null; notes: string[];
}

export interface ProcessesAnswer {
  processes: ProcessRow[]; notes: string[];
}
