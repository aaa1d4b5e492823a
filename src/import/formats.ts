import type { Format } from './conversion.ts';
import { bulldozer } from './formats/bulldozer.ts';
import { kodiak } from './formats/kodiak.ts';
import { labeler } from './formats/labeler.ts';
import { mergify } from './formats/mergify.ts';
import { policyBot } from './formats/policy-bot.ts';

/** Every format that can be imported. */
export const formats: readonly Format[] = [labeler, mergify, kodiak, bulldozer, policyBot];
