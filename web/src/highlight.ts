// Syntax colours for Python: strings, comments, numbers, keywords, defined names.

export type Piece = [kind: "" | "k" | "s" | "c" | "n" | "d" | "b", text: string];

const KEYWORDS = new Set(("False None True and as assert async await break class continue def del elif else except " +
  "finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield")
  .split(" "));
const BUILTINS = new Set(("abs all any bool dict enumerate filter float int isinstance len list map max min next " +
  "object open print range repr reversed self set sorted str sum super tuple type zip").split(" "));
const TOKEN = /(#.*$)|([rbfuRBFU]{0,2}("""|'''|"|'))|(\d[\w.]*)|([^\W\d]\w*)|(\s+)|(.)/gu;

function closing(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text.startsWith(quote, at)) return at + quote.length;
  }
  return -1;
}

// One list of pieces per line; a triple-quoted string continues over lines.
export function highlighted(lines: string[]): Piece[][] {
  let open = "";
  return lines.map((text) => {
    const pieces: Piece[] = [];
    let at = 0;
    let defines = false;
    if (open) {
      const end = closing(text, 0, open);
      pieces.push(["s", end < 0 ? text : text.slice(0, end)]);
      if (end < 0) return pieces;
      open = "";
      at = end;
    }
    while (at < text.length) {
      TOKEN.lastIndex = at;
      const found = TOKEN.exec(text);
      if (!found) break;
      const [whole, comment, string, quote, number, word] = found;
      at += whole.length;
      if (comment) pieces.push(["c", whole]);
      else if (string) {
        const end = closing(text, at, quote);
        if (end < 0 && quote.length === 3) open = quote;
        pieces.push(["s", text.slice(at - whole.length, end < 0 ? undefined : end)]);
        at = end < 0 ? text.length : end;
      } else if (number) pieces.push(["n", whole]);
      else if (word) {
        pieces.push([KEYWORDS.has(word) ? "k" : defines ? "d" : BUILTINS.has(word) ? "b" : "", whole]);
        defines = word === "def" || word === "class";
      } else pieces.push(["", whole]);
    }
    return pieces;
  });
}
