/**
 * Returns the SQL of the current instant: parameter `number`, or where that is null the clock of the server, which all processes
 * share.
 */
export function nowSql(number: number): string {
  return `coalesce($${number}::timestamptz, date_trunc('milliseconds', statement_timestamp()))`;
}
