// Made from the Python records by web/make_types.py: change those and run it again.

// The delay is from the end of the call that launched a kernel or copy to its start.
export interface LaunchStats {
  launches: number; call_ns: number; median_call_ns: number; median_delay_ns: number;
  p90_delay_ns: number; max_delay_ns: number; short_kernels: number; short_kernel_ns: number;
  short_call_ns: number; slow_calls: number; late_starts: number;
}

// What was launched on a stream and had not begun to run.
export interface QueueRow {
  stream: number; launches: number; mean_length: number; max_length: number; full_ns: number;
  blocked_ns: number; over_time: number[];
}

// A call in which the host waits for the device.
export interface SyncRow {
  name: string; operator: string | null; calls: number; total_ns: number; busy_ns: number;
  idle_after_ns: number;
}

export interface CopyRow {
  kind: string; calls: number; total_ns: number; size_bytes: number | null;
  bytes_per_s: number | null; over_time: number[];
}

// Memory that was allocated at the peak, by the operator that allocated it.
export interface AliveRow {
  operator: string | null; size_bytes: number; allocations: number; is_earlier: boolean;
}

// What the trace saw allocated. What was there before and is not freed in it is not known.
export interface DeviceMemory {
  peak_bytes: number; peak_at_ns: number; span_ns: number; over_time: number[]; alive: AliveRow[];
}

// A named range of the script or a framework: record_function, nvtx, TraceAnnotation.
export interface AnnotationRow {
  name: string; calls: number; host_ns: number; device_ns: number; kernels: number;
  kernel_ns: number;
}

export interface PathShare {
  kind: "operator" | "call" | "outside operators" | "launch" | "kernel" | "communication" | "copy" | "gap" | "stream wait" | "synchronisation" | "earlier work";
  path_ns: number; share: number; gain_ns: number;
}

// An operator, call, kernel or delay on the critical path.
export interface PathRow {
  kind: "operator" | "call" | "outside operators" | "launch" | "kernel" | "communication" | "copy" | "gap" | "stream wait" | "synchronisation" | "earlier work";
  name: string; times: number; path_ns: number; share: number; gain_ns: number;
}

// Of one step: what it could not have been shorter without.
export interface CriticalPath {
  step: string | null; step_ns: number; kinds: PathShare[]; rows: PathRow[]; others: number;
}

// Published by the maker: dense, without sparsity.
export interface DevicePeaks {
  name: string; flops_per_s: Record<string, number>; bytes_per_s: number;
}

// A heavy operator with inputs of one shape.
export interface RooflineRow {
  operator: string; input_shapes: string; precision: string; calls: number; device_ns: number;
  flops: number; least_bytes: number; flops_per_s: number; bytes_per_s: number;
  bound: "compute" | "memory" | null; share_of_roof: number | null;
}

export interface Roofline {
  device: string | null; peaks: DevicePeaks | null; flops: number; device_ns: number;
  rows: RooflineRow[]; mfu: number | null; of_busy: number | null; note: string | null;
}

// Kernels that follow each other again and again on one stream, and could be one.
export interface SequenceRow {
  kernels: string[]; times: number; total_ns: number; gap_ns: number; launches_saved: number;
}

// Of one device; null or empty: the trace says nothing about it.
export interface DeviceDetails {
  launches: LaunchStats | null; queues: QueueRow[]; synchronisations: SyncRow[]; copies: CopyRow[];
  memory: DeviceMemory | null; annotations: AnnotationRow[]; critical_path: CriticalPath | null;
  roofline: Roofline | null; sequences: SequenceRow[];
}

// What a rank does before the collectives. Times are sums over those that ranks have in common; compute, input and host are what it spends on them, since the collective before.
export interface ArrivalRow {
  rank: number; last: number; held_ms: number; waiting_ms: number; compute_ms: number;
  input_ms: number; host_ms: number; why: "compute" | "input" | "host" | null;
}

// Collectives of one kind and size in one process group. The algorithm's bandwidth is bytes by time; the bus's is what a link has to carry for that, as nccl-tests computes it.
export interface CollectiveRow {
  name: string; group: string | null; group_size: number | null; size_bytes: number | null;
  calls: number; total_ms: number; skew_ms: number | null; transfer_ms: number | null;
  algorithm_bytes_per_s: number | null; bus_bytes_per_s: number | null; last_rank: number | null;
}

export interface GroupRow {
  group: string; ranks: string; calls: number; total_ms: number; size_bytes: number;
}

// From the traces of devices, one per rank.
export interface TracedRanks {
  arrivals: ArrivalRow[]; collectives: CollectiveRow[]; groups: GroupRow[]; matched: number;
  imbalance: number | null;
}
