import type { ForgeContext } from '../core/context.ts';
import { secondsOf } from '../core/time.ts';
import { queueMirror } from './pull-mirrors.ts';
import { queuePushMirror } from './push-mirrors.ts';

/** Queues every mirror whose time has come. */
export function queueDueMirrors(context: ForgeContext): void {
  const { db, clock } = context;
  const now = secondsOf(clock());
  const due = 'next_at > 0 AND next_at <= ?';
  for (const { repo_id } of db.all<{ repo_id: number }>(`SELECT repo_id FROM mirrors WHERE ${due}`, now))
    queueMirror(context, repo_id);
  for (const { id } of db.all<{ id: number }>(`SELECT id FROM push_mirrors WHERE ${due}`, now))
    queuePushMirror(context, id);
}

const tickMs = 30_000;

/** Looks for due mirrors from now on; returns what ends it. */
export function startMirrorSchedule(context: ForgeContext): () => void {
  const timer = setInterval(() => queueDueMirrors(context), tickMs);
  timer.unref();
  return () => clearInterval(timer);
}
