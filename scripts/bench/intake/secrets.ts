/** What load and servers of this benchmark know of each other. */
export const authorization = 'Bearer only-for-the-benchmark-on-loopback';
export const secret = 'only-for-the-benchmark-on-loopback';
