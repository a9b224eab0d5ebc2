// The graph of the model: a box that is chosen, by pointer or key, shows its table beside the graph.
// Knows nothing of the model: tables are those that the page has already.
const panel = document.getElementById("graph-table");
const nodes = [...document.querySelectorAll("#graph .node")];

function chosen(node) {
  const key = node.dataset.card;
  const table = document.querySelector(`[data-table="${CSS.escape(key)}"]`);
  const title = document.createElement("h3");
  title.textContent = node.querySelector("text").textContent;
  const copy = !table ? [] : table.content ? [table.content.cloneNode(true)] : [table.cloneNode(true)];
  for (const part of copy) if (part.removeAttribute) part.removeAttribute("data-table");
  panel.replaceChildren(title, ...copy);
  for (const other of nodes) other.setAttribute("aria-pressed", String(other === node));
}

for (const node of nodes) {
  node.setAttribute("aria-pressed", "false");
  node.addEventListener("click", () => chosen(node));
  node.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      chosen(node);
    }
  });
}

if (nodes.length) chosen(nodes[0]);
