// Every chart can be saved, as SVG or as PNG, in the colours that it is seen in. Knows elements; nothing of the model.

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order", "stop-color", "stop-opacity"];
const TIMES = 2;

// A copy that needs no style sheet: what the page's says of each element is written on it.
function written(svg) {
  const copy = svg.cloneNode(true);
  const [seen, own] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  seen.forEach((element, k) => {
    const style = getComputedStyle(element);
    for (const name of STYLES) if (style.getPropertyValue(name)) own[k].setAttribute(name, style.getPropertyValue(name));
    own[k].removeAttribute("class");
  });
  const { width, height } = svg.viewBox.baseVal;
  const ground = document.createElementNS(svg.namespaceURI, "rect");
  for (const [name, value] of Object.entries({ x: -8, y: -8, width: width + 16, height: height + 16, fill: getComputedStyle(document.body).backgroundColor })) ground.setAttribute(name, value);
  copy.prepend(ground);
  copy.setAttribute("xmlns", svg.namespaceURI);
  copy.setAttribute("viewBox", `-8 -8 ${width + 16} ${height + 16}`);
  copy.setAttribute("width", width + 16);
  copy.setAttribute("height", height + 16);
  return new XMLSerializer().serializeToString(copy);
}

function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export async function save(svg, kind) {
  const text = written(svg);
  const name = (svg.getAttribute("aria-label") ?? "chart").split(":")[0].replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 40).replace(/^-|-$/g, "") || "chart";
  if (kind === "svg") {
    offer(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
    return;
  }
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width * TIMES, picture.height * TIMES];
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => offer(blob, `${name}.png`));
}

// Buttons below a chart, seen when it is pointed at or one of them has the focus.
export function savable(figure) {
  if (figure.querySelector(":scope > .save") || !figure.querySelector("svg.chart")) return;
  const row = document.createElement("p");
  row.className = "save";
  for (const kind of ["svg", "png"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = kind.toUpperCase();
    button.setAttribute("aria-label", `Save this chart as ${kind.toUpperCase()}`);
    button.addEventListener("click", () => save(figure.querySelector("svg.chart"), kind));
    row.append(button);
  }
  figure.append(row);
}

if (typeof document !== "undefined") for (const figure of document.querySelectorAll("figure")) savable(figure);
