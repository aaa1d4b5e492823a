// src/commands/table.ts
function tableOf(heads, rows) {
  const widths = heads.map(
    (head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0))
  );
  const line = (cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd();
  return [line(heads), ...rows.map(line)].join("\n");
}
function ageOf(instant, now) {
  const minutes = Math.floor((now.getTime() - Date.parse(instant)) / 6e4);
  if (minutes < 1) return "just now";
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} days`;
}

export {
  tableOf,
  ageOf
};
