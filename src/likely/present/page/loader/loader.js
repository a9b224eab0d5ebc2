// Unpacks the script of the page and runs it: the policy knows the hash of what comes out, so nothing else can run.
const held = document.getElementById("likely-script");

// What is long is packed (packing.py): gzip, 13 bits in two of 91 letters.
function bytesOf(text) {
  const out = [];
  const code = (k) => {
    const c = text.charCodeAt(k);
    return c - 33 - (c > 38) - (c > 60) - (c > 92);
  };
  let [bits, have] = [0, 0];
  for (let k = 0; k < text.length; k += 2) {
    const size = k + 1 < text.length ? 13 : 6;
    bits = (bits << size) | (size > 6 ? code(k) * 91 + code(k + 1) : code(k));
    for (have += size; have >= 8; have -= 8) out.push((bits >> (have - 8)) & 255);
    bits &= 255;
  }
  return Uint8Array.from(out);
}
globalThis.likelyUnpacked = (text) => new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"))).text();

if (typeof DecompressionStream === "undefined") {
  const words = document.createElement("p");
  words.className = "note";
  words.textContent = "This browser is too old to unpack the page's script: charts and tables are here, the what-if is not.";
  document.getElementById("main").prepend(words);
} else {
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = await globalThis.likelyUnpacked(held.textContent);
  document.body.append(script);
}
