// What the page holds beside the model: figures of held-out rows, and the style of what scripts make. Knows elements.

import { byId } from "./elements.js";

// Figures of held-out rows that the page holds: of ranking by class, and of groups by attribute.
const heldFigures = typeof document === "undefined" ? null : byId("likely-figures");
export const figuresOf = heldFigures ? JSON.parse(await globalThis.likelyUnpacked(heldFigures.textContent)) : { rankings: [], groups: [] };

// The style of what scripts make comes with them.
if (typeof document !== "undefined" && typeof WHATIF_STYLE !== "undefined") {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(WHATIF_STYLE);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
