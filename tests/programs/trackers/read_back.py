"""Prints what a tracker has kept, as JSON: read_back.py wandb|mlflow|tensorboard WHERE."""

import glob
import json
import os
import struct
import sys

BLOCK = 32768


def records(path):
    """A .wandb file: a head of 7 bytes, then pieces of records in blocks, as LevelDB's log has them."""
    with open(path, "rb") as file:
        data = file.read()
    at, piece = 7, b""
    while at + 7 <= len(data):
        if BLOCK - at % BLOCK < 7:
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        piece += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last piece
            yield piece
            piece = b""


def wandb(folder):
    from wandb.proto import wandb_internal_pb2

    (path,) = glob.glob(os.path.join(glob.escape(folder), "run-*.wandb"))
    told = {"history": [], "summary": {}, "artifacts": {}, "files": [], "ended": False}
    for each in records(path):
        record = wandb_internal_pb2.Record.FromString(each)
        kind = record.WhichOneof("record_type")
        if kind == "history":
            row = {"/".join(i.nested_key) or i.key: json.loads(i.value_json) for i in record.history.item}
            told["history"].append(row)
        elif kind == "summary":
            for item in record.summary.update:
                told["summary"]["/".join(item.nested_key) or item.key] = json.loads(item.value_json)
        elif kind == "artifact":
            entries = record.artifact.manifest.contents
            told["artifacts"][record.artifact.name] = {entry.path: entry.size for entry in entries}
        elif kind == "exit":
            told["ended"] = True
    return told


def mlflow(uri, run_id):
    import mlflow

    client = mlflow.MlflowClient(tracking_uri=uri)
    run = client.get_run(run_id)
    names = [name for name in run.data.metrics if name.startswith("stepscope/")]
    history = {
        name: [(m.step, m.value) for m in client.get_metric_history(run_id, name)] for name in names
    }
    files = {each.path: each.file_size for each in client.list_artifacts(run_id, "stepscope")}
    return {"metrics": run.data.metrics, "tags": run.data.tags, "history": history, "files": files}


def tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(folder)
    events.Reload()
    tags = events.Tags()
    return {
        "scalars": {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in tags["scalars"]},
        "texts": {
            tag: events.Tensors(tag)[-1].tensor_proto.string_val[0].decode() for tag in tags["tensors"]
        },
        "plugins": {t: events.SummaryMetadata(t).plugin_data.plugin_name for t in tags["tensors"]},
    }


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
