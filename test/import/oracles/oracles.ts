import { decide as bulldozer } from './bulldozer.ts';
import { decide as codeowners } from './codeowners.ts';
import { decide as kodiak } from './kodiak.ts';
import { decide as labeler } from './labeler.ts';
import { decide as mergify } from './mergify.ts';
import {
  decideAutoAssignAction,
  decideAutoAssignApp,
  decideAutolabeler,
  decideAutoRequestReview,
  decideBackportAction,
  decideBackportrc,
  decideBoringCyborg,
  decideFirstInteraction,
  decideSemanticPulls,
  decideSemanticTitle,
} from './others.ts';
import { decide as policyBot } from './policy-bot.ts';
import { decideLockThreads, decideNoResponse, decideProbotStale, decideStaleAction } from './stale.ts';
import type { Oracle } from './subject.ts';

/** The oracle of each format. Names of workflows are those of the action that reads them. */
export const oracles = {
  labeler: (configuration, subject, now) => labeler(configuration, subject, now),
  mergify,
  kodiak,
  bulldozer,
  'policy-bot': policyBot,
  codeowners,
  stale: decideStaleAction,
  'probot-stale': decideProbotStale,
  'no-response': decideNoResponse,
  lock: decideLockThreads,
  semantic: decideSemanticPulls,
  'semantic-title': decideSemanticTitle,
  'auto-assign': decideAutoAssignAction,
  'auto-assign-app': decideAutoAssignApp,
  'auto-request-review': decideAutoRequestReview,
  'release-drafter': decideAutolabeler,
  'boring-cyborg': decideBoringCyborg,
  greetings: decideFirstInteraction,
  'backport-action': decideBackportAction,
  backportrc: decideBackportrc,
} as const satisfies Readonly<Record<string, Oracle>>;
