// SPDX-License-Identifier: GPL-2.0
/* Draws the matrix from the document in the page. All text goes in as text: none of it is ever read as HTML. */
"use strict";

const doc = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/* el("td", { class: "x" }, child...): children are elements or text. */
function el(tag, attributes, ...children) {
	const e = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {}))
		if (value !== undefined && value !== null)
			e.setAttribute(name, value);
	e.append(...children.filter((c) => c !== null && c !== undefined));
	return e;
}

/* A colour that a name always has. */
function hue(name) {
	let h = 7;

	for (const c of name)
		h = (h * 131 + c.codePointAt(0)) % 3600;
	return (h * 7) % 360;
}

const chip = (name) => el("span", { class: "chip", style: "--hue:" + hue(name), "aria-hidden": "true" });
const who = (name) => el("span", {}, chip(name), name);

/* Cases in their order: one a scenario and variant, with a run a policy. */
const cases = [];
for (const run of doc.runs) {
	let c = cases.find((k) => k.path === run.path && k.variant === run.variant);

	if (!c) {
		c = { path: run.path, id: run.id, variant: run.variant, name: run.name, class: run.class, runs: {} };
		cases.push(c);
	}
	c.runs[run.policy] = run;
}
const policies = doc.policies.filter((p) => doc.runs.some((r) => r.policy === p));

const kindOf = (run) => ({ HUNG: "HUNG", ERROR: "ERROR", BUG: "BUG" }[run.outcome] || (run.verdict ? run.verdict.kind : run.outcome === "FAIL" ? "checks differ" : "checks hold"));
const colours = {
	"contained": "good", "REJECTED": "good", "checks hold": "good", "ESCAPED": "bad", "DEGRADED": "warn", "OUTAGE": "warn", "N/A": "quiet",
};
const colourOf = (run) => colours[kindOf(run)] || "odd";
const differs = (run) => !["ok", "explored"].includes(run.outcome);

/* What a cell says: the component that stopped it, or the verdict; and what showed it. */
function words(run) {
	const kind = kindOf(run), v = run.verdict;

	if (kind === "contained")
		return [v.component, v.code.replace(/^nvme:/, "")];
	if (kind === "REJECTED")
		return ["REJECTED by " + v.component, v.code];
	if (kind === "ESCAPED")
		return ["ESCAPED", (["host", "nobody"].includes(v.victim) ? "" : "VM ") + v.victim + ", " + v.claim];
	return [kind, run.seen.startsWith(kind) ? run.seen.slice(kind.length).trim().replace(/^nvme:/, "") : ""];
}

function cell(c, policy) {
	const run = c.runs[policy];

	if (!run)
		return el("td", {}, el("span", { class: "none" }, "–"));
	const [main, more] = words(run), stopped = kindOf(run) === "contained";
	return el("td", { role: "gridcell" }, el("button", {
		type: "button", class: "cell " + colourOf(run) + (differs(run) ? " differs" : ""), tabindex: "-1", "aria-expanded": "false",
		"data-case": c.id, "data-variant": c.variant, "data-policy": policy,
		title: c.id + " under " + policy + ": " + run.seen + (differs(run) ? " (not as expected)" : ""),
	}, stopped ? chip(main) : null, main, el("small", {}, more), differs(run) ? el("small", {}, run.outcome) : null));
}

function drawMatrix() {
	const matrix = byId("matrix");
	let body = null, last = null;

	matrix.tHead.append(el("tr", {}, el("th", { scope: "col" }, "attack"), ...policies.map((p) => el("th", { scope: "col", "data-policy": p }, p, el("small", {})))));
	for (const c of cases) {
		if (c.class !== last) {
			last = c.class;
			body = el("tbody", { "data-class": last }, el("tr", { class: "class-name" }, el("th", { colspan: policies.length + 1, scope: "rowgroup" }, last)));
			matrix.append(body);
		}
		c.row = el("tr", { class: "case", "data-case": c.id, "data-variant": c.variant },
			   el("th", { scope: "row" }, el("b", {}, c.id + (c.variant === "-" ? "" : " " + c.variant)), " " + c.name), ...policies.map((p) => cell(c, p)));
		body.append(c.row);
	}
	const first = matrix.querySelector(".cell");
	if (first)
		first.tabIndex = 0;
}

/* ---- a case ---- */

const section = (title, ...content) => content.length ? [el("h3", {}, title), ...content] : [];
const ns = (ps) => (ps / 1000).toLocaleString("en", { maximumFractionDigits: 3 }) + " ns";
const nbsp = (text) => text.replaceAll(" ", "\u00a0");

function facts(head, rows, name) {
	return el("table", { class: "facts " + (name || "") }, el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
		  el("tbody", {}, ...rows.map((r) => el("tr", {}, ...r.map((v) => v instanceof HTMLTableCellElement ? v : el("td", {}, v))))));
}

function verdictPart(run) {
	const v = run.verdict, e = run.expected, part = [];

	part.push(el("p", {}, el("b", {}, run.seen), differs(run) ? " · not as expected" : run.outcome === "explored" ? " · nothing was expected" : " · as expected"));
	if (e)
		part.push(el("p", {}, "Expected (line " + e.line + " of the table): " + e.verdict + (e.component === "-" ? "" : " by " + e.component) +
			     (e.code === "-" ? "" : ", " + e.code) + (e.bound === "-" ? "" : ", " + e.bound) + ". " + e.why));
	for (const f of run.failures)
		part.push(el("p", { class: "failure" }, f));
	if (v && v.codes.length)
		part.push(el("p", {}, "Codes seen: ", el("code", {}, v.codes.join(", "))));
	return part;
}

/* What the other policies' columns say: who would stop what got through here. */
function elsewhere(c, policy) {
	const rows = policies.filter((p) => p !== policy && c.runs[p]).map((p) => {
		const run = c.runs[p], v = run.verdict;
		const by = v && ["refused", "covered", "passed"].map((k) => v.evidence.find((e) => e.kind === k)).find(Boolean);

		return [p, el("span", {}, run.seen), by && kindOf(run) !== "ESCAPED" ? by.kind + ": " + by.component + " " + by.text : ""];
	});
	const through = ["ESCAPED", "DEGRADED", "OUTAGE"].includes(kindOf(c.runs[policy]));
	const stops = rows.filter((r) => kindOf(c.runs[r[0]]) === "contained" || kindOf(c.runs[r[0]]) === "REJECTED");

	if (through && !stops.length)
		return section("What would stop it", el("p", {}, "None of the policies that were run."), rows.length ? facts(["policy", "seen", "by"], rows, "stops") : null);
	return rows.length ? section(through ? "What would stop it" : "Under the other policies", facts(["policy", "seen", "by"], through ? stops : rows, "stops")) : [];
}

function evidencePart(run) {
	const rows = (run.verdict ? run.verdict.evidence : []).map((e) => [nbsp(ns(e.time_ps)), who(e.component), e.kind, e.text]);
	const bad = run.violations.map((v) => [nbsp(ns(v.time_ps)), v.claim, "VM " + v.by, v.victim, v.what]);
	const faults = run.timeline.filter((e) => e.text.startsWith("guest_") && ["iommu", "irte", "ept", "pci"].includes(e.component));

	return [
		...(rows.length ? section("Evidence", facts(["simulated time", "component", "", "what"], rows.slice(0, 24), "evidence"),
					  ...(rows.length > 24 ? [el("p", {}, rows.length - 24 + " more")] : [])) : []),
		...(bad.length ? section("Violations that the oracle saw: " + run.violations_seen, facts(["simulated time", "claim", "by", "victim", "what"], bad, "violations")) : []),
		...(faults.length ? section("Fault records", facts(["simulated time", "by", "fault", "numbers"],
			faults.map((e) => [nbsp(ns(e.time_ps)), who(e.component), e.text.slice(6).replaceAll("_", " "), numbers(e)]), "faults")) : []),
	];
}

const numbers = (e) => el("code", {}, Object.entries(e.numbers).map(([k, v]) => k + "=" + v).join(" ") + (e.status ? " (status " + e.status + ")" : ""));

/* An SQE's dwords: NVMe base specification, figure "Common Command Format". */
function sqePart(run) {
	const seen = new Set(), rows = [];

	for (const e of run.timeline) {
		if (!e.sqe || seen.has(e.io + e.sqe))
			continue;
		seen.add(e.io + e.sqe);
		const bytes = e.sqe.match(/../g), le = (from, n) => "0x" + (bytes.slice(from, from + n).reverse().join("").replace(/^0+/, "") || "0");

		rows.push([el("span", {}, e.io ? io(e.io) : e.component + " " + e.text, e.vm ? ", VM " + e.vm : ""), el("pre", {}, [0, 16, 32, 48].map((at) => bytes.slice(at, at + 16).join(" ")).join("\n")),
			   el("pre", {}, "opcode " + le(0, 1) + ", cid " + le(2, 2) + ", nsid " + le(4, 4) + "\nmptr " + le(16, 8) + "\nprp1 " + le(24, 8) + ", prp2 " + le(32, 8) +
			      "\ncdw10..11 " + le(40, 8) + ", cdw12 " + le(48, 4))]);
	}
	return rows.length ? section("Commands", facts(["command", "SQE, 64 bytes", "fields"], rows.slice(0, 12), "sqes")) : [];
}

/* "queue 4, command 7" */
function io(id) {
	const v = BigInt(id);

	return "queue " + (v >> 48n) + ", command " + (v & 0xffffffffffffn);
}

/* Guest's address to device's to memory's, of each access that reached memory or was to. */
function addressPart(run) {
	const rows = run.timeline.filter((e) => e.numbers.hpa !== undefined || (e.numbers.iova !== undefined && e.text.startsWith("guest_"))).map((e) => [
		who(e.component), e.text.replaceAll("_", " ") + (e.numbers.write ? e.numbers.write === "0x1" ? " (write)" : " (read)" : ""), e.vm ? "VM " + e.vm : "",
		el("code", {}, e.named_gpa || e.numbers.gpa || ""), el("code", {}, e.numbers.iova || ""), el("code", {}, e.text.startsWith("guest_") ? "" : e.numbers.hpa || ""),
		e.owner ? (e.owner === "host" ? "the host's" : "VM " + e.owner + "'s") + (e.owner_gpa ? " " + e.owner_gpa : "") : "",
	]);
	return rows.length ? section("Addresses: guest-physical to device's (IOVA) to host-physical", facts(["component", "access", "for", "GPA", "IOVA", "HPA", "memory of"], rows, "addresses")) : [];
}

function timelinePart(run) {
	const lanes = [...new Set(run.timeline.map((e) => e.component))];
	const start = run.timeline.length ? run.timeline[0].time_ps : 0;
	const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "+ simulated"), ...lanes.map((l) => el("th", { scope: "col", class: "lane" }, l)),
					el("th", { scope: "col" }, "hop"), el("th", { scope: "col" }, "numbers"), el("th", { scope: "col" }, "command")));
	const body = el("tbody", {}, ...run.timeline.map((e) => el("tr", { class: (e.decides ? "decides" : "") + (e.in_attack ? "" : " before"), "data-component": e.component },
		el("td", { class: "time" }, ns(e.time_ps - start)), ...lanes.map((l) => el("td", { class: "lane" }, l === e.component ? chip(l) : "")),
		el("td", {}, el("b", {}, e.component), " " + e.text.replaceAll("_", " ") + (e.vm ? " · VM " + e.vm : "")), el("td", {}, numbers(e)), el("td", {}, e.io ? io(e.io) : ""))));

	if (!run.timeline.length)
		return section("Timeline", el("p", {}, "No event was recorded."));
	return section("Timeline by component", el("p", {}, run.timeline.length + " of the attack's " + run.timeline_of +
		" events; from " + ns(start) + " on. Marked: what the verdict rests on."), el("table", { class: "facts timeline" }, head, body));
}

function costPart(c, policy) {
	const all = policies.filter((p) => c.runs[p]), most = Math.max(1, ...all.map((p) => c.runs[p].attack_ps));
	const measures = Object.entries(c.runs[policy].measures_micro);

	return [...section("Cost", facts(["policy", "attack", "", "exits in it", "whole run", "exits", "events"], all.map((p) => {
		const r = c.runs[p];

		return [p === policy ? el("b", {}, p) : p, nbsp(ns(r.attack_ps)), el("span", { class: "bar", style: "width:" + Math.ceil(120 * r.attack_ps / most) + "px" }),
			String(r.attack_exits), nbsp(ns(r.simulated_ps)), String(r.exits), String(r.events)];
	}), "cost")), ...(measures.length ? section("Measures", facts(["", ""], measures.map(([k, v]) => [k, String(v / 1e6)]))) : [])];
}

/* Keys that this page knows; others are shown as they are, so that none is lost. */
const known = ["about", "attack_exits", "attack_line", "attack_ps", "attacker", "chain", "chain_io", "class", "digest", "events", "exits", "expected", "failures", "id", "log",
	       "measures_micro", "name", "outcome", "path", "policy", "replay", "seed", "seen", "simulated_ps", "timeline", "timeline_of", "variant", "verdict", "violations",
	       "violations_seen"];

function restPart(run) {
	const rest = Object.keys(run).filter((k) => !known.includes(k)).map((k) => [k.replaceAll("_", " "), el("pre", {}, typeof run[k] === "string" ? run[k] : JSON.stringify(run[k], null, 1))]);

	return [...(rest.length ? section("Further", facts(["", ""], rest)) : []), ...(run.log ? section("The script's log", el("pre", {}, run.log)) : []),
		...section("Run it again", el("pre", { class: "replay" }, run.replay), el("p", {}, "seed " + run.seed + ", digest " + run.digest))];
}

function detail(c, policy) {
	const run = c.runs[policy];
	const other = policies.filter((p) => c.runs[p]).map((p) => el("button", { type: "button", class: colourOf(c.runs[p]), "data-switch": p, "aria-pressed": String(p === policy) }, p));

	return el("tr", { class: "detail", "data-case": c.id, "data-variant": c.variant, "data-policy": policy }, el("td", { colspan: policies.length + 1 },
		el("section", { tabindex: "-1", "aria-label": c.id + " under " + policy }, el("h2", {}, c.id + (c.variant === "-" ? "" : " " + c.variant) + ": " + c.name),
		   el("p", {}, run.about), el("p", { class: "mono" }, run.path + (run.attack_line ? ":" + run.attack_line : "") + " · attacker " + (run.attacker || "-")),
		   el("div", { class: "switch", role: "group", "aria-label": "policy" }, ...other), ...section("Verdict under " + policy, ...verdictPart(run)),
		   ...elsewhere(c, policy), ...evidencePart(run), ...sqePart(run), ...addressPart(run), ...timelinePart(run), ...costPart(c, policy), ...restPart(run))));
}

let open = null;

function close(focus) {
	if (!open)
		return;
	const button = open.button;

	open.row.remove();
	button.setAttribute("aria-expanded", "false");
	open = null;
	if (focus)
		button.focus();
}

function show(c, policy, focus) {
	close(false);
	const button = c.row.querySelector(".cell[data-policy=" + CSS.escape(policy) + "]");

	open = { c, policy, button, row: detail(c, policy) };
	c.row.after(open.row);
	button.setAttribute("aria-expanded", "true");
	settle(button);
	if (focus)
		open.row.querySelector("section").focus({ preventScroll: true });
	try {
		history.replaceState(null, "", "#" + [c.id, c.variant, policy].map(encodeURIComponent).join("/"));
	} catch (e) {
		/* A page that is no document of its own (a preview, a sandbox) has no address to change. */
	}
}

/* ---- filters ---- */

function options(id, values, all) {
	byId(id).append(el("option", { value: "" }, all), ...[...new Set(values)].map((v) => el("option", { value: v }, v)));
}

function filter() {
	const want = Object.fromEntries(["class", "policy", "verdict", "component"].map((k) => [k, byId("f-" + k).value]));
	const text = byId("f-text").value.trim().toLowerCase(), only = byId("f-differs").checked;
	let shown = 0;
	const tally = {};

	for (const c of cases) {
		const runs = policies.filter((p) => (!want.policy || p === want.policy) && c.runs[p]).map((p) => c.runs[p]);
		const hit = (run) => (!want.verdict || kindOf(run) === want.verdict) && (!only || differs(run)) &&
			(!want.component || (run.verdict && run.verdict.component === want.component));
		const visible = (!want.class || c.class === want.class) && runs.some(hit) &&
			(!text || [c.id, c.variant, c.name, ...runs.map((r) => r.about + " " + r.seen)].join(" ").toLowerCase().includes(text));

		c.row.hidden = !visible;
		shown += visible;
		for (const r of visible ? runs : [])
			(tally[r.policy] = tally[r.policy] || {})[kindOf(r)] = (tally[r.policy][kindOf(r)] || 0) + 1;
		if (open && open.c === c && (!visible || (want.policy && open.policy !== want.policy)))
			close(false);
	}
	for (const body of byId("matrix").tBodies)
		body.hidden = ![...body.querySelectorAll("tr.case")].some((r) => !r.hidden);
	policies.forEach((p, i) => {
		for (const row of byId("matrix").querySelectorAll("tr.case, thead tr"))
			row.cells[i + 1].hidden = Boolean(want.policy) && p !== want.policy;
		byId("matrix").tHead.rows[0].cells[i + 1].querySelector("small").textContent = Object.entries(tally[p] || {}).map(([k, n]) => n + " " + k).join(", ");
	});
	byId("count").textContent = shown + " of " + cases.length + " cases";
	if (!byId("matrix").querySelector('.cell[tabindex="0"]')?.checkVisibility())
		settle([...byId("matrix").querySelectorAll(".cell")].find((b) => b.checkVisibility()));
}

/* ---- keys and clicks ---- */

/* One cell at a time is a stop of the Tab key. */
function settle(button) {
	if (!button)
		return;
	for (const b of byId("matrix").querySelectorAll('.cell[tabindex="0"]'))
		b.tabIndex = -1;
	button.tabIndex = 0;
}

function move(from, dx, dy) {
	const rows = cases.filter((c) => !c.row.hidden).map((c) => [...c.row.cells].map((t) => t.querySelector(".cell")).map((b) => b && !b.parentNode.hidden ? b : null));
	let y = rows.findIndex((r) => r.includes(from)), x = y < 0 ? -1 : rows[y].indexOf(from);

	do {
		x += dx;
		y += dy;
	} while (rows[y] && x >= 0 && x < rows[y].length && !rows[y][x]);
	if (rows[y] && rows[y][x]) {
		settle(rows[y][x]);
		rows[y][x].focus();
	}
}

function onKey(ev) {
	const typing = ev.target.matches("input[type=search], select"), arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[ev.key];

	if (ev.ctrlKey || ev.metaKey || ev.altKey)
		return;
	if (ev.key === "Escape" && open) {
		close(true);
	} else if (ev.key === "/" && !typing) {
		byId("f-text").focus();
	} else if (arrow && ev.target.matches(".cell")) {
		move(ev.target, ...arrow);
	} else {
		return;
	}
	ev.preventDefault();
}

function onClick(ev) {
	const button = ev.target.closest(".cell"), other = ev.target.closest("[data-switch]");

	if (other && open) {
		const c = open.c;

		show(c, other.dataset.switch, false);
		open.row.querySelector('[data-switch][aria-pressed="true"]').focus();
	} else if (button) {
		const c = cases.find((k) => k.row.contains(button));

		if (open && open.button === button)
			close(true);
		else
			show(c, button.dataset.policy, ev.detail === 0);
	}
}

function fromAddress() {
	const [id, variant, policy] = location.hash.slice(1).split("/").map(decodeURIComponent);
	const c = cases.find((k) => k.id === id && (k.variant === variant || !variant));

	if (c && !(open && open.c === c && open.policy === policy)) {
		show(c, c.runs[policy] ? policy : policies.find((p) => c.runs[p]), false);
		c.row.scrollIntoView();
	}
}

function start() {
	const s = doc.summary, runs = doc.runs;

	byId("summary").textContent = `lightiov ${doc.command}: ${s.runs} runs, ${s.as_expected} as expected, ${s.differ} differ` + (s.explored ? `, ${s.explored} explored` : "") +
		(s.hung ? `, ${s.hung} hung` : "") + (s.mistakes ? `, ${s.mistakes} in error` : "") + (runs.length ? `; seed ${runs[0].seed}` : "");
	drawMatrix();
	options("f-class", cases.map((c) => c.class), "all");
	options("f-policy", policies, "all");
	options("f-verdict", runs.map(kindOf), "any");
	options("f-component", runs.map((r) => r.verdict ? r.verdict.component : "-").filter((n) => n !== "-").sort(), "any");
	byId("legend").append(...[...new Set(runs.map(kindOf))].map((k) => el("span", { class: "key " + (colours[k] || "odd") }, k)),
			      ...[...new Set(runs.map((r) => r.verdict ? r.verdict.component : "-"))].filter((n) => n !== "-").sort().map(who));
	filter();
	byId("filters").addEventListener("input", filter);
	byId("filters").addEventListener("submit", (ev) => ev.preventDefault());
	byId("matrix").addEventListener("click", onClick);
	document.addEventListener("keydown", onKey);
	byId("theme").addEventListener("click", () => {
		const dark = getComputedStyle(document.documentElement).getPropertyValue("--paper").trim() === "#0d1117";

		document.documentElement.dataset.theme = dark ? "light" : "dark";
	});
	window.addEventListener("hashchange", fromAddress);
	fromAddress();
}

start();
