/** What is known of a module while a bundle is divided into chunks. */
export type ModuleGraph = {
  /** Returns the ids of the modules that a module imports at its start, or null for an unknown one. */
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
};

/**
 * Returns a function that names the chunk of a module by those of the programs (ids of modules) that need the module at their
 * start: a program then loads what it needs and nothing else, in few files. Undefined: none of them needs the module, or it is
 * such a program itself.
 *
 * Imports lead to modules that as many programs need or more, so chunks do not import each other in a circle.
 */
export function chunksByPrograms(
  programs: readonly string[],
): (id: string, graph: ModuleGraph) => string | undefined {
  let users: Map<string, string> | undefined;
  return (id, graph) => {
    users ??= usersOfModules(programs, graph);
    return programs.includes(id) ? undefined : users.get(id);
  };
}

/** Returns the numbers of the programs that need each module, joined. */
function usersOfModules(programs: readonly string[], graph: ModuleGraph): Map<string, string> {
  const users = new Map<string, string>();
  for (const [number, program] of programs.entries()) {
    const needed = new Set([program]);
    // A set is walked to its end while it grows.
    for (const id of needed) {
      const info = graph.getModuleInfo(id);
      if (info === null) throw new Error(`${id} is no module of the bundle`);
      for (const imported of info.importedIds) needed.add(imported);
    }
    for (const id of needed) users.set(id, `${users.get(id) ?? 'needed-by'}-${number}`);
  }
  return users;
}
