import type { Format } from './conversion.ts';
import { boringCyborg } from './formats/boring-cyborg.ts';
import { labeler } from './formats/labeler.ts';
import { releaseDrafter } from './formats/release-drafter.ts';
import { srvaroaLabeler } from './formats/srvaroa-labeler.ts';

/** Every format that can be imported. */
export const formats: readonly Format[] = [labeler, srvaroaLabeler, boringCyborg, releaseDrafter];
