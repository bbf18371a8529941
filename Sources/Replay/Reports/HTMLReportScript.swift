/// The script of an `Recording.HTMLReport`. It inserts text from the log only as text, never as HTML elements.
enum HTMLReportScript {
    static let text = #"""
        "use strict";
        {
        const log = JSON.parse(document.getElementById("log").textContent);
        const phaseNames = ["blocked", "dns", "connect", "tls", "send", "wait", "receive"];

        function element(name, attributes = {}, ...children) {
          const made = document.createElement(name);
          for (const [key, value] of Object.entries(attributes)) {
            if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
          }
          made.append(...children.filter((child) => child !== undefined && child !== ""));
          return made;
        }

        // MARK: What entries say

        const start = Date.parse(log.start);
        for (const entry of log.entries) {
          entry.time = entry.phases.reduce((sum, phase) => sum + (phase || 0), 0);
          const place = /^[a-z][a-z0-9+.-]*:\/\/([^\/?#]*)(.*)$/i.exec(entry.url);
          entry.host = place ? place[1].replace(/^.*@/, "") : "";
          entry.path = place ? place[2] || "/" : entry.url;
          entry.kind = entry.kind || kindOfType(entry.type || "");
          entry.status = entry.status > 0 ? entry.status : 0;
          entry.words = entry.words || "";
          entry.text = [entry.n, entry.method, entry.status || "", entry.words, entry.kind, entry.url, entry.operation || "",
            entry.error || "", entry.type || "", entry.failed ? "failed" : "", entry.stored ? "stored" : ""]
            .join(" ").toLowerCase();
        }

        function kindOfType(type) {
          if (type.startsWith("image/")) return "image";
          return (/json|html|javascript|css|font|video|audio|xml|text/.exec(type) || ["other"])[0];
        }

        function shownTime(ms) {
          if (ms >= 100000) return `${Math.floor(ms / 60000)} min ${Math.round(ms / 1000) % 60} s`;
          if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
          return ms >= 100 ? `${Math.round(ms)} ms` : `${Number(ms.toPrecision(3))} ms`;
        }

        function shownSize(bytes) {
          if (bytes === undefined) return "";
          if (bytes < 1000) return `${bytes} B`;
          const steps = ["kB", "MB", "GB"];
          let size = bytes / 1000, step = 0;
          while (size >= 1000 && step < 2) { size /= 1000; step += 1; }
          return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${steps[step]}`;
        }

        // Secrets that were left out are marked.
        function marked(text) {
          const parts = text.split(/(REDACTED(?::h:[0-9a-f]{12})?)/);
          return parts.map((part, index) => index % 2
            ? element("mark", { title: "redacted secret" }, part) : part);
        }

        // MARK: The axis of time, on which nothing happens only briefly

        const axis = (() => {
          const spans = log.entries.map((entry) => [entry.at, entry.at + entry.time]).sort((a, b) => a[0] - b[0]);
          const merged = [];
          for (const [from, to] of spans) {
            const last = merged[merged.length - 1];
            if (last && from <= last[1]) last[1] = Math.max(last[1], to); else merged.push([from, to]);
          }
          const busy = merged.reduce((sum, span) => sum + span[1] - span[0], 0) || 1;
          const points = [], cuts = [];
          let at = 0;
          merged.forEach(([from, to], index) => {
            points.push([from, at]);
            at += to - from;
            points.push([to, at]);
            if (index + 1 === merged.length) return;
            const idle = merged[index + 1][0] - to;
            const shown = Math.min(idle, busy * Math.max(0.04, 0.4 / merged.length));
            if (idle > 2 * shown) cuts.push([at + shown / 2, idle]);
            at += shown;
          });
          const length = at || 1;
          function find(value, from, to) {
            let low = 0, high = points.length - 1;
            while (high - low > 1) {
              const middle = (low + high) >> 1;
              if (points[middle][from] <= value) low = middle; else high = middle;
            }
            if (high < 1) return points[0] ? points[0][to] : 0;
            const a = points[low], b = points[high], width = b[from] - a[from];
            return width > 0 ? a[to] + (value - a[from]) / width * (b[to] - a[to]) : a[to];
          }
          return {
            place: (time) => find(time, 0, 1) / length * 100,
            time: (percent) => find(percent / 100 * length, 1, 0),
            cuts: cuts.map(([place, idle]) => [place / length * 100, idle]),
          };
        })();

        function bar(entry, from, to) {
          const made = element("div", { class: "bar" });
          let at = entry.at;
          entry.phases.forEach((phase, index) => {
            if (!phase) return;
            const left = from(at), right = from(at + phase);
            at += phase;
            const piece = element("i", { title: `${phaseNames[index]} ${shownTime(phase)}` });
            piece.style.left = `${left}%`;
            piece.style.width = `${right - left}%`;
            piece.style.setProperty("--color", `var(--${phaseNames[index]})`);
            made.append(piece);
          });
          if (to !== undefined || made.childElementCount) return made;
          const piece = element("i");
          piece.style.left = `${from(at)}%`;
          piece.style.setProperty("--color", "var(--blocked)");
          made.append(piece);
          return made;
        }

        // MARK: Rows

        const columns = [
          ["#", "n"], ["Method", "method"], ["Status", "status"], ["Kind", "kind"], ["URL", "url"], ["Size", "size"],
          ["Time", "time"], ["", "at"],
        ];

        function cell(name, ...children) {
          return element("div", { role: "cell", class: name }, ...children);
        }

        function statusCell(entry) {
          if (!entry.status) return cell("status failed", entry.failed ? "failed" : "none");
          const name = `status s${Math.floor(entry.status / 100)}${entry.failed ? " failed" : ""}`;
          return cell(name, `${entry.status}${entry.failed ? " ✕" : ""}`);
        }

        function urlCell(entry) {
          const made = cell("url", element("span", { class: "host" }, entry.host), ...marked(entry.path));
          made.title = entry.url;
          const tags = [entry.operation, entry.attempt && `attempt ${entry.attempt}`, entry.stored && "stored",
            entry.error && entry.error.split(/[:\n]/)[0].slice(0, 40)];
          for (const tag of tags) if (tag) made.append(element("span", { class: "tag" }, tag));
          if (entry.redactions) {
            made.append(element("span", { class: "tag secret", title: entry.redactions.join("\n") },
              `${entry.redactions.length} redacted`));
          }
          return made;
        }

        function row(entry) {
          const button = element("button", { "aria-expanded": "false", "aria-label": `entry ${entry.n}` }, `${entry.n}`);
          const made = element("div", { role: "row", class: "row", id: `entry-${entry.n}` },
            cell("number", button), cell("method", entry.method), statusCell(entry), cell("kind", entry.kind),
            urlCell(entry), cell("right size", shownSize(entry.size)), cell("right", shownTime(entry.time)));
          const timing = bar(entry, axis.place);
          timing.setAttribute("role", "cell");
          timing.setAttribute("aria-label", `started ${shownTime(entry.at)} after the first entry`);
          made.append(timing);
          made.addEventListener("click", () => {
            if (String(getSelection()) === "") toggle(entry);
          });
          entry.row = made;
          entry.button = button;
          return made;
        }

        function toggle(entry) {
          if (entry.detail) {
            entry.detail.remove();
            entry.detail = undefined;
          } else {
            entry.detail = detail(entry);
            entry.row.after(entry.detail);
          }
          entry.row.classList.toggle("open", Boolean(entry.detail));
          entry.button.setAttribute("aria-expanded", String(Boolean(entry.detail)));
          remember();
        }

        // MARK: All of one entry

        function detail(entry) {
          const made = element("div", { class: "detail", role: "row" });
          const inner = element("div", { role: "cell" }, element("p", { class: "whole mono" },
            `${entry.method} `, ...marked(entry.url)));
          const began = new Date(start + entry.at);
          const facts = [
            isNaN(began) ? "" : began.toISOString().replace("T", " "), entry.version, entry.address,
            entry.connection && `connection ${entry.connection}`, entry.attempt && `attempt ${entry.attempt}`,
            entry.stored && "served from a store", entry.operation && `operation ${entry.operation}`,
            entry.id && `id ${entry.id}`, entry.location && `redirects to ${entry.location}`,
          ].filter(Boolean).map((fact) => element("span", {}, ...marked(fact)));
          const parent = entry.parent && log.entries.find((other) => other.id === entry.parent);
          if (parent) facts.push(element("a", { href: `#open=${parent.n}` }, `after entry ${parent.n}`));
          inner.append(element("p", { class: "facts" }, ...facts));
          if (entry.error) inner.append(element("p", { class: "error" }, ...marked(entry.error)));
          inner.append(element("div", { class: "columns" },
            element("section", {}, element("h2", {}, "Request"), ...message(entry.sent, entry.sentBody)),
            element("section", {}, element("h2", {}, entry.status ? `Response ${entry.status} ${entry.words}` : "No response"),
              ...message(entry.received || [], entry.body, entry.trailers))));
          const rest = element("div", { class: "columns" }, element("section", {}, element("h3", {}, "Timing"), phases(entry)));
          if (entry.redactions) {
            rest.append(element("section", {}, element("h3", {}, "Redacted"),
              element("div", { class: "fields mono" }, ...entry.redactions.flatMap((place) => [element("mark", {}, place), " "]))));
          }
          inner.append(rest);
          if (entry.messages) inner.append(element("h3", {}, "Messages"), ...body(entry.messages));
          made.append(inner);
          return made;
        }

        function message(fields, content, trailers) {
          const parts = [list(fields)];
          if (trailers) parts.push(element("h3", {}, "Trailers"), list(trailers));
          if (content) parts.push(element("h3", {}, "Body"), ...body(content));
          return parts;
        }

        function list(fields) {
          if (!fields.length) return element("p", { class: "note" }, "no fields");
          const made = element("dl", { class: "fields mono" });
          for (let place = 0; place < fields.length; place += 2) {
            made.append(element("dt", {}, log.strings[fields[place]]),
              element("dd", {}, ...marked(log.strings[fields[place + 1]])));
          }
          return made;
        }

        function phases(entry) {
          const made = element("dl", { class: "phases" });
          let at = entry.at;
          entry.phases.forEach((phase, index) => {
            if (phase === null) return;
            const title = element("dt", {}, phaseNames[index]);
            title.style.setProperty("--color", `var(--${phaseNames[index]})`);
            const only = { at, phases: entry.phases.map((each, other) => other === index ? each : 0) };
            const place = (time) => entry.time ? (time - entry.at) / entry.time * 100 : 0;
            made.append(title, element("dd", {}, shownTime(phase)), bar(only, place, entry.time));
            at += phase;
          });
          return made;
        }

        function body(content) {
          const facts = [content.type, content.size !== undefined && shownSize(content.size),
            content.truncated && "only the beginning was recorded", content.cut && "only the beginning is shown", content.hidden];
          const note = element("p", { class: "note" }, facts.filter(Boolean).join(" · "));
          if (content.image !== undefined) {
            const image = element("img", { alt: "image", src: `data:${content.type.split(";")[0].trim()};base64,${content.image}` });
            return [element("div", { class: "body" }, image), note];
          }
          if (content.text === undefined || content.text === "") return [note];
          const pretty = indented(content.text);
          const text = element("pre", { tabindex: "0" }, ...marked(pretty === undefined ? content.text : pretty));
          if (pretty !== undefined && pretty !== content.text) {
            const button = element("button", { "aria-pressed": "false" }, "raw");
            button.addEventListener("click", () => {
              const isRaw = button.getAttribute("aria-pressed") === "false";
              button.setAttribute("aria-pressed", String(isRaw));
              button.textContent = isRaw ? "indented" : "raw";
              text.replaceChildren(...marked(isRaw ? content.text : pretty));
            });
            note.append(" · ", button);
          }
          return [element("div", { class: "body" }, text), note];
        }

        // JSON with a line for each value, also where its end is missing: digits and escapes stay as they are.
        function indented(text) {
          if (!/^\s*[\[{]/.test(text)) return undefined;
          const tokens = text.match(/"(?:[^"\\]|\\.)*"?|[\[\]{},:]|[^\s"\[\]{},:]+/gs) || [];
          let depth = 0, made = "", last = "";
          for (const token of tokens) {
            const isEnd = token === "]" || token === "}", isStart = last === "[" || last === "{";
            if (isEnd) depth = Math.max(depth - 1, 0);
            if (token === "," || token === ":") made += token === ":" ? ": " : ",";
            else if (last === ":" || last === "" || (isEnd && isStart)) made += token;
            else made += `\n${"  ".repeat(Math.min(depth, 60))}${token}`;
            if (token === "[" || token === "{") depth += 1;
            last = token;
          }
          return made;
        }
        """# + page
}
