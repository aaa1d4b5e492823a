import type { GitLimits } from './limits.ts';

/** Returns the one configuration that git reads for every repository of the forge. */
export function configurationOf({ pushBytes }: GitLimits): string {
  return `[core]
	hooksPath = /dev/null
	# Objects of every size are held in memory as a whole, where GIT_ALLOC_LIMIT bounds them.
	bigFileThreshold = 1048576g
	# No tree is made, whatever makes it, with a path that the file system of a clone would take for .git.
	protectHFS = true
	protectNTFS = true
[safe]
	directory = *
[gc]
	autoDetach = false
[receive]
	fsckObjects = true
	advertisePushOptions = true
	hideRefs = refs/pull
	maxInputSize = ${pushBytes}
[pack]
	# Each thread holds the objects that it resolves.
	threads = 2
[transfer]
	# Packs stay packs, of pushes, forks and remotes: unpacked into files, a hundred deltas of one large object would take a
	# hundred times its size.
	unpackLimit = 1
	hideRefs = refs/reeve
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[protocol]
	allow = never
[protocol "file"]
	allow = always
[fastimport]
	unpackLimit = 100
`;
}
