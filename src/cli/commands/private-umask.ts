/**
 * Lets only the owner of this process read the files that it and its child processes create: databases keep secrets, and
 * git, which knows no mode of its own, writes the code of private repositories.
 */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}
