import type { Format } from './conversion.ts';
import { autoAssign } from './formats/auto-assign.ts';
import { autoRequestReview } from './formats/auto-request-review.ts';
import { backportAction, backportrc } from './formats/backport-actions.ts';
import { boringCyborg } from './formats/boring-cyborg.ts';
import { bulldozer } from './formats/bulldozer.ts';
import { codeowners } from './formats/codeowners.ts';
import { kodiak } from './formats/kodiak.ts';
import { labeler } from './formats/labeler.ts';
import { lockThreads, probotLock } from './formats/lock-threads.ts';
import { mergify } from './formats/mergify.ts';
import { noResponse, probotNoResponse } from './formats/no-response.ts';
import { owners } from './formats/owners.ts';
import { policyBot } from './formats/policy-bot.ts';
import { probotStale } from './formats/probot-stale.ts';
import { releaseDrafter } from './formats/release-drafter.ts';
import { semantic, semanticTitle } from './formats/semantic-title.ts';
import { safeSettings, settings } from './formats/settings.ts';
import { srvaroaLabeler } from './formats/srvaroa-labeler.ts';
import { stale } from './formats/stale.ts';
import { behaviorbot, firstInteraction } from './formats/welcome.ts';

/** Every format that can be imported. */
export const formats: readonly Format[] = [
  labeler,
  srvaroaLabeler,
  boringCyborg,
  releaseDrafter,
  stale,
  probotStale,
  noResponse,
  probotNoResponse,
  lockThreads,
  probotLock,
  semanticTitle,
  semantic,
  autoAssign,
  autoRequestReview,
  firstInteraction,
  behaviorbot,
  backportAction,
  backportrc,
  mergify,
  kodiak,
  bulldozer,
  policyBot,
  codeowners,
  owners,
  settings,
  safeSettings,
];
