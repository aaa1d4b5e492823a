/** Returns the group of a lane for round-robin: lanes of one repository share it, so that a busy one cannot starve the others. */
export function turnOf(lane: string): string {
  const end = lane.indexOf('#');
  return end === -1 ? lane : lane.slice(0, end);
}
