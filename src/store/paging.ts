/** Maximum number of deliveries that a search without an index examines per call. */
export const searchStretch = 50_000;

/** Items of a page at most. */
export const maxPageSize = 500;

/** Returns the size of a page: the wanted one as far as that is allowed. */
export function pageSizeOf(limit: number | undefined): number {
  return Math.min(Math.max(Math.trunc(limit ?? 50), 1), maxPageSize);
}

/** Returns the number of a row. An id that is not a number matches no row. */
export function rowNumberOf(id: string): number {
  return /^\d{1,15}$/.test(id) ? Number(id) : -1;
}
