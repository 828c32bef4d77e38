// Fields that show a value of the document: what is typed is the field's until Enter, Escape or until it is left; then it shows the value again.
import { tell } from "./dom.js";

const SMALLEST_CHANGE = 0.006; // numbers are shown with two decimals

// Keep an input at a value. `send` gets what was typed and returns a promise; `parse` reads the input and `format` writes a value
// of the document. `owner` names what is edited: what was typed for another is dropped. Returns what shows a new value; undefined
// stands for several values.
export function bindField(input, send, { parse = numberIn, format = String, tolerance = () => SMALLEST_CHANGE, owner = () => "" } = {}) {
  let current, isTyped = false, typedFor = "";
  const write = () => { input.value = current === undefined || current === null ? "" : format(current); };
  async function commit() {
    if (!isTyped) return;
    isTyped = false;
    const wanted = parse(input);
    if (wanted === undefined || typedFor !== owner()) { write(); return; }
    await send(wanted);
    if (isTyped) return;
    write();
    if (typeof wanted === "number" && input.value !== "" && Math.abs(Number(input.value) - wanted) > tolerance(wanted)) tell(differenceOf(input, wanted), true);
  }
  input.addEventListener("input", () => {
    if (!isTyped) typedFor = owner();
    isTyped = true;
  });
  input.addEventListener("change", commit);
  input.addEventListener("blur", commit);
  input.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") commit();
    if (key === "Escape" && isTyped) { isTyped = false; write(); }
  });
  return (value) => {
    current = value;
    if (typedFor !== owner()) isTyped = false;
    if (!isTyped) write();
  };
}

// The number in an input; undefined for none.
export const numberIn = (input) => Number.isFinite(input.valueAsNumber) ? input.valueAsNumber : undefined;
export const textIn = (input) => input.value;

// What is said when the document does not hold the number that was typed.
function differenceOf(input, wanted) {
  const name = (input.getAttribute("aria-label") ?? input.labels?.[0]?.textContent ?? "The number").trim();
  const isBelow = input.min !== "" && wanted < Number(input.min), isAbove = input.max !== "" && wanted > Number(input.max);
  const range = isBelow ? `${wanted} is below ${input.min}` : isAbove ? `${wanted} is above ${input.max}` : `${wanted} is not possible here`;
  return `${name}: ${range}; it is ${input.value} now.`;
}
