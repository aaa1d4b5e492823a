// src/rules/problem.ts
var maxSourceColumns = 160;
function formatProblem(problem) {
  const { path, line, column, code, message, suggestion } = problem;
  const hint = suggestion === void 0 ? "" : `, did you mean "${suggestion}"?`;
  const head = `${path}:${line}:${column}: ${code}: ${message}${hint}`;
  const cutFrom = Math.max(0, column - 1 - maxSourceColumns / 2);
  const shown = problem.source.slice(cutFrom, cutFrom + maxSourceColumns);
  if (shown.trim() === "") return visible(head);
  const indent = problem.source.slice(cutFrom, column - 1).replace(/[^\t]/g, " ");
  const width = Math.max(1, Math.min(problem.width, shown.length - indent.length));
  const gutter = `${line}`.padStart(5);
  return `${visible(head)}
${gutter} | ${visible(shown)}
${" ".repeat(5)} | ${indent}${"^".repeat(width)}`;
}
function formatProblems(problems) {
  return problems.map(formatProblem).join("\n\n");
}
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\uFFFD");
}

export {
  formatProblem,
  formatProblems
};
