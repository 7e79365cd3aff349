"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = d3.select("#page");
  const width = 1150;
  const left = 190;
  const tip = d3.select("body").append("div").attr("class", "tip");

  // Okabe and Ito's colours, which all eyes tell apart
  const fixed = { compute: "#56b4e9", memory: "#999999", idle: "#eeeeee", host: "#d0d0d0", launch: "#bdbdbd" };
  const others = ["#d55e00", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#f0e442", "#8c564b", "#7f3c8d"];
  let next = 0;
  const colours = data.kinds.map((kind) => fixed[kind] || others[next++ % others.length]);
  function partColour(name) {
    if (fixed[name]) return fixed[name];
    const kind = data.kinds.findIndex((k) => name.indexOf("exposed " + k + " ") === 0);
    return kind < 0 ? "#777" : colours[kind];
  }

  function time(ns) {
    const size = Math.abs(ns);
    if (size >= 1e9) return (ns / 1e9).toPrecision(4) + " s";
    if (size >= 1e6) return (ns / 1e6).toPrecision(4) + " ms";
    if (size >= 1e3) return (ns / 1e3).toPrecision(4) + " us";
    return ns.toFixed(0) + " ns";
  }
  function percent(part, whole) {
    return whole > 0 ? ((100 * part) / whole).toFixed(1) + " %" : "-";
  }
  function show(text, event) {
    const x = Math.min(event.clientX + 14, window.innerWidth - 540);
    tip.style("display", "block").style("left", x + "px").style("top", event.clientY + 14 + "px").text(text);
  }
  function hide() {
    tip.style("display", "none");
  }
  function section(title, id) {
    page.append("h2").text(title);
    return page.append("div").attr("id", id);
  }
  function legend(at, names, colour) {
    const items = at.append("div").attr("class", "legend").selectAll("span").data(names).enter().append("span");
    items.append("i").style("background", colour);
    items.append("b").style("font-weight", "normal").text((name) => name);
  }

  page.append("h1").text(data.title);

  // ---- timeline
  function timeline() {
    const box = section("Timeline", "timeline");
    const row = 18;
    const rows = [];
    if (data.path.length > 0) rows.push({ label: "critical path", path: true, events: data.path });
    data.timeline.ranks.forEach((rank) =>
      rank.streams.forEach((stream) =>
        rows.push({ label: rank.label + ", " + stream.name, events: stream.events })));
    let end = 1;
    rows.forEach((r) => {
      r.longest = 0;
      r.events.forEach((e) => {
        end = Math.max(end, e[0] + e[1]);
        r.longest = Math.max(r.longest, e[1]);
      });
    });
    box.append("p").text("Drag to move, turn the wheel to zoom, point at a bar to read it. Hatched: waiting for others."
      + (data.timeline.omitted > 0
        ? " " + data.timeline.omitted + " events shorter than " + time(data.timeline.shortest_ns) + " are not drawn." : ""));
    const kinds = {};
    rows.forEach((r) => r.events.forEach((e) => { kinds[e[3]] = true; }));
    legend(box, Object.keys(kinds).map((k) => data.kinds[k]), (name) => colours[data.kinds.indexOf(name)]);
    const reset = box.append("button").attr("id", "reset").text("Show all");
    const axisSvg = box.append("svg").attr("width", width).attr("height", 24);
    const axisAt = axisSvg.append("g").attr("class", "axis").attr("transform", "translate(0,22)");
    const frame = box.append("div").attr("class", "timeline scroll");
    const height = Math.max(rows.length * row, 20);
    const ratio = window.devicePixelRatio || 1;
    const canvas = frame.append("canvas").attr("width", width * ratio).attr("height", height * ratio)
      .style("width", width + "px").style("height", height + "px");
    const pen = canvas.node().getContext("2d");
    pen.scale(ratio, ratio);

    const x = d3.scale.linear().domain([0, end]).range([left, width]);
    const axis = d3.svg.axis().scale(x).orient("top").ticks(8).tickFormat(time);
    const zoom = d3.behavior.zoom().x(x).scaleExtent([1, Math.max(10, end / 100)]).on("zoom", draw);
    canvas.call(zoom);
    reset.on("click", () => {
      x.domain([0, end]);
      zoom.x(x).scale(1).translate([0, 0]);
      draw();
    });

    // the first event that may reach `t`: events are sorted by start
    function firstIndex(r, t) {
      let low = 0, high = r.events.length;
      const from = t - r.longest;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (r.events[middle][0] < from) low = middle + 1;
        else high = middle;
      }
      return low;
    }
    function draw() {
      axisAt.call(axis);
      pen.clearRect(0, 0, width, height);
      const domain = x.domain();
      rows.forEach((r, i) => {
        const y = i * row;
        pen.fillStyle = i % 2 ? "#fafafa" : "#fff";
        pen.fillRect(0, y, width, row);
        let painted = -1;
        for (let k = firstIndex(r, domain[0]); k < r.events.length && r.events[k][0] <= domain[1]; ++k) {
          const e = r.events[k];
          const from = Math.max(x(e[0]), left), to = Math.min(x(e[0] + e[1]), width);
          if (to < left || to <= painted) continue;  // nothing new would be seen
          const size = Math.max(to - from, 0.6);
          pen.fillStyle = colours[e[3]];
          pen.fillRect(from, y + 2, size, row - 4);
          if (!r.path && e[4] > 0) {
            const joined = Math.min(x(e[0] + e[4]), width);
            pen.fillStyle = "rgba(255,255,255,0.6)";
            for (let s = from; s < joined; s += 6) pen.fillRect(s, y + 2, Math.min(3, joined - s), row - 4);
          }
          if (size > 60) {
            pen.save();
            pen.beginPath();
            pen.rect(from, y, size, row);
            pen.clip();
            pen.fillStyle = "#000";
            pen.font = "11px sans-serif";
            pen.fillText(data.names[e[2]], from + 3, y + 13);
            pen.restore();
          }
          painted = Math.max(painted, from + size - 0.5);
        }
        pen.fillStyle = "#fff";
        pen.fillRect(0, y, left - 1, row);
        pen.fillStyle = "#333";
        pen.font = "12px sans-serif";
        pen.fillText(r.label, 4, y + 13, left - 8);
      });
      pen.strokeStyle = "rgba(0,0,0,0.5)";
      (data.timeline.ranks[0] ? data.timeline.ranks[0].steps : []).forEach((step) =>
        [step[0], step[1]].forEach((t) => {
          if (t < domain[0] || t > domain[1]) return;
          pen.beginPath();
          pen.moveTo(x(t), 0);
          pen.lineTo(x(t), height);
          pen.stroke();
        }));
    }
    canvas.on("mousemove", () => {
      const at = d3.mouse(canvas.node());
      const r = rows[Math.floor(at[1] / row)];
      if (!r || at[0] < left) return hide();
      const t = x.invert(at[0]);
      const slack = x.invert(at[0] + 1) - t;
      let found = null;
      for (let k = firstIndex(r, t); k < r.events.length && r.events[k][0] <= t + slack; ++k)
        if (r.events[k][0] + r.events[k][1] >= t - slack) found = r.events[k];
      if (!found) return hide();
      let text = data.names[found[2]] + "\n" + data.kinds[found[3]] + ", " + time(found[1]) + ", from " + time(found[0]);
      if (r.path) text += "\nrank " + (found[4] === null ? "unknown" : found[4]) + (found[5] ? ", inferred" : "");
      else if (found[4] > 0) text += "\nof it waiting: " + time(found[4]);
      show(text, d3.event);
    });
    canvas.on("mouseout", hide);
    draw();
    window.amspTimeline = { domain: () => x.domain(), rows: rows.length };  // for tests
  }

  // ---- bars: entries {label, text, pieces: [{from, to, colour, tip}]}
  function bars(box, entries, format) {
    const row = 22;
    let low = 0, high = 0;
    entries.forEach((entry) => entry.pieces.forEach((p) => {
      low = Math.min(low, p.from, p.to);
      high = Math.max(high, p.from, p.to);
    }));
    const wide = 300;
    const x = d3.scale.linear().domain([low, high || 1]).range([wide, width - 160]).nice();
    const svg = box.append("svg").attr("width", width).attr("height", entries.length * row + 26);
    svg.append("g").attr("class", "axis grid").attr("transform", "translate(0," + entries.length * row + ")")
      .call(d3.svg.axis().scale(x).orient("bottom").ticks(8).tickFormat(format).tickSize(-entries.length * row, 4));
    const rows = svg.selectAll("g.row").data(entries).enter().append("g").attr("class", "row")
      .attr("transform", (d, i) => "translate(0," + i * row + ")");
    rows.append("text").attr("x", wide - 8).attr("y", 15).attr("text-anchor", "end").style("font-size", "12px")
      .text((d) => d.label);
    rows.append("text").attr("x", width - 152).attr("y", 15).style("font-size", "12px").text((d) => d.text);
    rows.selectAll("rect").data((d) => d.pieces).enter().append("rect")
      .attr("x", (p) => x(Math.min(p.from, p.to))).attr("y", 3)
      .attr("width", (p) => Math.max(1, Math.abs(x(p.to) - x(p.from)))).attr("height", row - 6)
      .attr("fill", (p) => p.colour)
      .on("mousemove", (p) => show(p.tip, d3.event)).on("mouseout", hide);
  }

  function waterfall() {
    const w = data.waterfall;
    if (w.parts.length === 0 && w.to === 0) return;
    const compares = w.from !== 0;
    const box = section(compares ? "Waterfall: from A's step to B's" : "Waterfall: what a step is made of", "waterfall");
    const entries = [];
    let at = w.from;
    const bar = (label, from, to, colour, text) =>
      entries.push({ label: label, text: text, pieces: [{ from: from, to: to, colour: colour, tip: label + "\n" + text }] });
    if (compares) bar("step in A", 0, w.from, "#555", time(w.from));
    w.parts.forEach((part) => {
      bar(part[0], at, at + part[1], partColour(part[0]),
        (compares && part[1] > 0 ? "+" : "") + time(part[1]) + ", " + percent(part[1], compares ? w.from : w.to));
      at += part[1];
    });
    bar(compares ? "step in B" : "step", 0, w.to, "#555", time(w.to));
    bars(box, entries, time);
  }

  function exposed() {
    if (!data.exposed.some((rank) => rank.kinds.length > 0)) return;
    const box = section("Exposed communication by rank, mean of a step", "exposed");
    const kinds = {};
    data.exposed.forEach((rank) => rank.kinds.forEach((k) => { kinds[k[0]] = true; }));
    legend(box, Object.keys(kinds).map((k) => data.kinds[k]), (name) => colours[data.kinds.indexOf(name)]);
    bars(box, data.exposed.map((rank) => {
      let at = 0;
      const pieces = rank.kinds.map((k) => {
        const piece = { from: at, to: at + k[1], colour: colours[k[0]],
                        tip: data.kinds[k[0]] + "\n" + time(k[1]) + ", " + percent(k[1], rank.window) + " of the step" };
        at += k[1];
        return piece;
      });
      return { label: rank.label, text: time(at) + ", " + percent(at, rank.window), pieces: pieces };
    }), time);
  }

  function path() {
    if (data.path.length === 0) return;
    const box = section("Critical path by kind", "path");
    const sums = {};
    let whole = 0, inferred = 0;
    data.path.forEach((p) => {
      sums[p[3]] = (sums[p[3]] || 0) + p[1];
      whole += p[1];
      inferred += p[5] ? p[1] : 0;
    });
    box.append("p").text(data.path.length + " pieces; " + percent(inferred, whole) + " of the time by inference.");
    bars(box, Object.keys(sums).sort((a, b) => sums[b] - sums[a]).map((k) => ({
      label: data.kinds[k], text: time(sums[k]) + ", " + percent(sums[k], whole),
      pieces: [{ from: 0, to: sums[k], colour: colours[k], tip: data.kinds[k] + "\n" + time(sums[k]) }] })), time);
  }

  const gib = (bytes) => (bytes / 1073741824).toFixed(1) + " GiB";
  function memory() {
    if (!data.memory) return;
    const box = section("Memory per GPU", "memory");
    const entries = [];
    let at = 0;
    data.memory.parts.forEach((part) => {
      entries.push({ label: part.name, text: gib(part.bytes),
                     pieces: [{ from: at, to: at + part.bytes, colour: "#56b4e9", tip: part.name + "\n" + gib(part.bytes) + "\n" + part.how }] });
      at += part.bytes;
    });
    if (data.memory.capacity > 0)
      entries.push({ label: "capacity", text: gib(data.memory.capacity),
                     pieces: [{ from: 0, to: data.memory.capacity, colour: "#555", tip: "capacity of the GPU" }] });
    bars(box, entries, gib);
  }

  // ---- scatter and line of a search
  function plot(box, points, xLabel, yLabel, xFormat, connect) {
    const height = 360, margin = { left: 70, top: 10, bottom: 40 };
    const x = d3.scale.linear().domain(d3.extent(points, (p) => p.x)).nice().range([margin.left, width - 30]);
    const y = d3.scale.linear().domain([0, d3.max(points, (p) => p.y)]).nice().range([height - margin.bottom, margin.top]);
    const svg = box.append("svg").attr("width", width).attr("height", height);
    svg.append("g").attr("class", "axis").attr("transform", "translate(0," + (height - margin.bottom) + ")")
      .call(d3.svg.axis().scale(x).orient("bottom").tickFormat(xFormat));
    svg.append("g").attr("class", "axis").attr("transform", "translate(" + margin.left + ",0)")
      .call(d3.svg.axis().scale(y).orient("left"));
    svg.append("text").attr("x", width - 30).attr("y", height - 6).attr("text-anchor", "end").style("font-size", "12px").text(xLabel);
    svg.append("text").attr("x", margin.left + 6).attr("y", 20).style("font-size", "12px").text(yLabel);
    if (connect.length > 1)
      svg.append("path").attr("fill", "none").attr("stroke", "#d55e00")
        .attr("d", d3.svg.line().x((p) => x(p.x)).y((p) => y(p.y))(connect));
    svg.selectAll("circle").data(points).enter().append("circle").attr("r", 4)
      .attr("cx", (p) => x(p.x)).attr("cy", (p) => y(p.y)).attr("fill", (p) => p.colour)
      .on("mousemove", (p) => show(p.tip, d3.event)).on("mouseout", hide);
  }
  function plans() {
    if (!data.plans) return;
    const candidates = data.plans.candidates.map((c) => ({ x: c.memory_bytes, y: c.tokens_per_gpu_second,
      colour: c.fits ? "#0072b2" : "#bbbbbb", fits: c.fits,
      tip: c.name + "\n" + gib(c.memory_bytes) + ", " + c.tokens_per_gpu_second.toFixed(0) + " tokens per GPU and second"
        + (c.fits ? "" : "\ndoesn't fit") }));
    if (candidates.length > 0) {
      const front = [];
      candidates.filter((c) => c.fits).sort((a, b) => a.x - b.x || b.y - a.y).forEach((c) => {
        if (front.length === 0 || c.y > front[front.length - 1].y) front.push(c);
      });
      plot(section("Plans: memory against throughput", "pareto"), candidates, "memory per GPU",
        "tokens per GPU and second", gib, front);
    }
    if (data.plans.cases.length > 0) {
      const points = data.plans.cases.map((c) => ({ x: c.gpus, y: c.tokens_per_gpu_second * c.gpus, colour: "#0072b2",
        tip: c.gpus + " GPUs: " + c.name + "\n" + time(c.step_time_s * 1e9) + " a step" }));
      plot(section("Scaling: best plan by number of GPUs", "scaling"), points, "GPUs", "tokens per second", (n) => n, points);
    }
  }

  timeline();
  waterfall();
  exposed();
  path();
  memory();
  plans();
  page.append("h2").text("In words");
  page.append("pre").text(data.summary);
})();
