// Bundles the page into the Python package: one script and one style, nothing else.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";

const here = dirname(fileURLToPath(import.meta.url));
const into = process.argv[2] ?? join(here, "..", "stepscope", "show", "report", "bundle");

await build({
  absWorkingDir: here,
  entryPoints: { report: "src/main.tsx" },
  outdir: into,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2021",
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
});
