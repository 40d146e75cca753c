# SPDX-License-Identifier: GPL-2.0
"""
What must be true of each report, beside the others: functions that return what is wrong, a text each. A report is
compared with the document of --json, which is compared with its schema; none is compared with what it says itself.
"""

import json
import os
import re
import subprocess
import xml.etree.ElementTree as xml

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
BAD = ("FAIL", "HUNG", "ERROR", "BUG")


def schema_problems(doc, name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        schema = json.load(f)
    checker = jsonschema.Draft7Validator(schema)
    return ["%s: %s" % ("/".join(map(str, e.absolute_path)) or "document", e.message[:200]) for e in list(checker.iter_errors(doc))[:10]]


def result_problems(doc):
    """The document itself."""
    bad = schema_problems(doc, "result.schema.json")
    if bad:
        return bad
    seen = set()
    for r in doc["runs"]:
        what = "%s %s %s" % (r["id"], r["variant"], r["policy"])
        if (r["path"], r["variant"], r["policy"]) in seen:
            bad.append(what + ": twice")
        seen.add((r["path"], r["variant"], r["policy"]))
        if r["policy"] not in doc["policies"]:
            bad.append(what + ": a policy that is not in the list")
        v = r["verdict"]
        if v and (v["kind"] == "contained") != (v["component"] != "-") and v["kind"] not in ("REJECTED", "INERT"):
            bad.append("%s: %s by %s" % (what, v["kind"], v["component"]))
        if v and (v["kind"] == "ESCAPED") != bool(v["claim"]):
            bad.append("%s: %s and claim '%s'" % (what, v["kind"], v["claim"]))
        if v and v["kind"] == "ESCAPED" and not r["violations"]:
            bad.append(what + ": ESCAPED, and no violation")
        if r["attack_ps"] > r["simulated_ps"] or r["attack_exits"] > r["exits"]:
            bad.append(what + ": the attack took more than the run")
    count = {k: sum(r["outcome"] == o for r in doc["runs"]) for k, o in
             (("as_expected", "ok"), ("differ", "FAIL"), ("explored", "explored"), ("hung", "HUNG"), ("bugs", "BUG"))}
    count["runs"] = len(doc["runs"])
    bad += ["summary: %s is %d, not %d" % (k, doc["summary"][k], n) for k, n in count.items() if doc["summary"][k] != n]
    return bad


def rule_of(run):
    if run["outcome"] == "HUNG":
        return "verdict/hung"
    if run["outcome"] in ("ERROR", "BUG"):
        return "verdict/error"
    if run["verdict"] and run["verdict"]["kind"] == "ESCAPED":
        return "isolation/" + run["verdict"]["claim"]
    return "verdict/differs" if run["outcome"] == "FAIL" else None


def sarif_problems(sarif, doc):
    bad = schema_problems(sarif, "sarif.schema.json")
    if bad:
        return bad
    rules = sarif["runs"][0]["tool"]["driver"]["rules"]
    results = sarif["runs"][0]["results"]
    wanted = [r for r in doc["runs"] if rule_of(r)]
    if len(results) != len(wanted):
        return ["%d results for %d findings" % (len(results), len(wanted))]
    prints = [tuple(sorted(f["partialFingerprints"].items())) for f in results]
    if len(set(prints)) != len(prints):
        bad.append("two findings have the same fingerprint")
    for f, r in zip(results, wanted):
        what = "%s %s %s" % (r["id"], r["variant"], r["policy"])
        p, at = f["properties"], f["locations"][0]["physicalLocation"]
        if f["ruleId"] != rule_of(r) or rules[f["ruleIndex"]]["id"] != f["ruleId"]:
            bad.append("%s: rule %s, number %d" % (what, f["ruleId"], f["ruleIndex"]))
        if p["policy"] != r["policy"] or p["variant"] != r["variant"] or p["outcome"] != r["outcome"]:
            bad.append(what + ": the properties are another run's")
        if r["verdict"] and p["verdict"] != r["verdict"]["kind"]:
            bad.append(what + ": verdict " + p["verdict"])
        if f["level"] != {"ok": "note", "explored": "warning"}.get(r["outcome"], "error"):
            bad.append("%s: level %s of one that is %s" % (what, f["level"], r["outcome"]))
        if ("suppressions" in f) != (r["outcome"] == "ok"):
            bad.append(what + ": suppressed, or not, against the table")
        if at["artifactLocation"]["uri"].removeprefix("file://") != r["path"]:
            bad.append("%s: in %s" % (what, at["artifactLocation"]["uri"]))
        elif r["outcome"] in ("ok", "explored"):
            with open(r["path"], encoding="utf-8") as source:
                line = (source.read().split("\n") + [""] * 9999)[at["region"]["startLine"] - 1]
            # Shared attacks live in scenarios/lib: then the line calls what attacks.
            if at["region"]["startLine"] != max(1, r["attack_line"]) or not line.strip():
                bad.append("%s: line %d: '%s'" % (what, at["region"]["startLine"], line))
    return bad


def junit_problems(path, doc):
    said = subprocess.run(["xmllint", "--noout", "--schema", os.path.join(HERE, "junit.xsd"), path], capture_output=True, text=True)
    if said.returncode:
        return said.stderr.strip().split("\n")[:5]
    root, bad = xml.parse(path).getroot(), []
    cases = {c.get("name"): (s, c) for s in root for c in s.findall("testcase")}
    runs = {"%s %s %s" % (r["id"], r["variant"], r["policy"]): r for r in doc["runs"]}
    if sorted(cases) != sorted(runs):
        return ["cases and runs differ: " + ", ".join(sorted(set(cases) ^ set(runs))[:5])]
    for name, r in runs.items():
        suite, case = cases[name]
        properties = {p.get("name"): p.get("value") for p in case.find("properties")}
        tag = "error" if r["outcome"] in ("ERROR", "BUG") else "failure" if r["outcome"] in BAD else None
        if suite.get("name") != r["class"]:
            bad.append("%s: in suite %s" % (name, suite.get("name")))
        if [e.tag for e in case if e.tag != "properties"] != ([tag] if tag else []):
            bad.append("%s: %s is not shown so" % (name, r["outcome"]))
        if properties["policy"] != r["policy"] or properties["replay"] != r["replay"] or properties["digest"] != r["digest"]:
            bad.append(name + ": properties of another run")
        if tag and case.find(tag) is not None and r["replay"] not in case.find(tag).text:
            bad.append(name + ": the failure does not say how to repeat it")
        if abs(float(case.get("time")) - r["simulated_ps"] / 1e12) > 1e-6:
            bad.append(name + ": another time")
    for e, all_cases in [(root, [c for _, c in cases.values()])] + [(s, s.findall("testcase")) for s in root]:
        sums = {"tests": len(all_cases), "failures": sum(c.find("failure") is not None for c in all_cases),
                "errors": sum(c.find("error") is not None for c in all_cases)}
        bad += ["%s: %s=%s, not %d" % (e.get("name"), k, e.get(k), n) for k, n in sums.items() if e.get(k) != str(n)]
    return bad


def ns_of(value):
    """Microseconds with three digits, as whole nanoseconds."""
    return round(value * 1000)


def trace_problems(trace, doc):
    """
    The JSON trace-event format as Perfetto documents and reads it (perfetto.dev/docs/getting-started/other-formats; "Trace Event
    Format", whose rules these are): phases and their keys, slices of a thread nest, asynchronous slices begin before they end, flows
    lead from an earlier slice to a later one; threads are known by their number alone.
    """
    bad, process, thread, slices, flows, lives, marks = [], {}, {}, {}, {}, {}, 0
    if set(trace) != {"traceEvents", "displayTimeUnit", "otherData"} or trace["displayTimeUnit"] not in ("ns", "ms"):
        return ["not the object form of the format"]
    for e in trace["traceEvents"]:
        phase = e.get("ph")
        if phase not in "MXbei" or not isinstance(e.get("pid"), int) or not isinstance(e.get("tid"), int) or not e.get("name") or not e["tid"]:
            bad.append("an event without what each needs: %s" % e)
            break
        if phase == "M":
            where = process if e["name"] == "process_name" else thread
            key = e["pid"] if where is process else e["tid"]
            if e["name"] not in ("process_name", "thread_name") or key in where:
                bad.append("named twice, or unknown: %s" % e)
            where[key] = (e["args"]["name"], e["pid"])
            continue
        if not isinstance(e.get("ts"), (int, float)) or e["ts"] < 0:
            bad.append("no time: %s" % e)
            break
        if phase == "X":
            slices.setdefault(e["tid"], []).append((ns_of(e["ts"]), ns_of(e.get("dur", -1)), e["pid"]))
            if "bind_id" in e:
                if not re.fullmatch("0x[0-9a-f]{1,16}", e["bind_id"]):
                    bad.append("bind_id %s is no hexadecimal number" % e["bind_id"])
                flows.setdefault(e["bind_id"], []).append((ns_of(e["ts"]), bool(e.get("flow_in")), bool(e.get("flow_out")), e["tid"]))
        elif phase in "be":
            lives.setdefault((e["cat"], e["id"]), []).append((phase, ns_of(e["ts"]), e["name"]))
        else:
            marks += 1
            if e.get("s") not in ("g", "p", "t"):
                bad.append("an instant of no scope: %s" % e)
    for tid, each in slices.items():
        if tid not in thread or {p for _, _, p in each} != {thread[tid][1]}:
            bad.append("thread %d has no name, or is of two processes" % tid)
        stack = []
        for start, length, _ in sorted(each, key=lambda s: (s[0], -s[1])):
            if length < 0:
                bad.append("a slice without a length in thread %d" % tid)
            while stack and stack[-1] <= start:
                stack.pop()
            if stack and start + length > stack[-1]:
                bad.append("slices of thread %d (%s) overlap at %d ns" % (tid, thread.get(tid), start))
                break
            stack.append(start + length)
    for id_, steps in flows.items():
        ends = [(i > 0, i < len(steps) - 1) for i in range(len(steps))]
        if len(steps) < 2 or [s[1:3] for s in steps] != ends or [s[0] for s in steps] != sorted(s[0] for s in steps):
            bad.append("flow %s does not lead from one slice to the next" % id_)
    for key, life in lives.items():
        if [p for p, _, _ in life] != ["b", "e"] or life[0][1] > life[1][1] or life[0][2] != life[1][2]:
            bad.append("asynchronous slice %s: %s" % (key, life))
    names = {p: n for p, (n, _) in process.items()}
    wanted = ["%s %s%s" % (r["id"], "" if r["variant"] == "-" else r["variant"] + " ", r["policy"]) for r in doc["runs"]]
    if [names[p] for p in sorted(names)] != wanted:
        bad.append("processes are not the runs")
    if marks != sum(len(r["violations"]) for r in doc["runs"]):
        bad.append("%d marks for %d violations" % (marks, sum(len(r["violations"]) for r in doc["runs"])))
    return bad[:10]


def tracks_of(trace):
    return {e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
