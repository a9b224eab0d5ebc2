// Unpacks the script of the page and runs it: the policy knows the hash of what comes out, so nothing else can run.
const held = document.getElementById("likely-script");
if (typeof DecompressionStream === "undefined") {
  const words = document.createElement("p");
  words.className = "note";
  words.textContent = "This browser is too old to unpack the page's script: charts and tables are here, the what-if is not.";
  document.getElementById("main").prepend(words);
} else {
  const bytes = Uint8Array.from(atob(held.textContent), (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = text;
  document.body.append(script);
}
