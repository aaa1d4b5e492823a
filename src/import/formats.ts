import type { Format } from './conversion.ts';
import { codeowners } from './formats/codeowners.ts';
import { labeler } from './formats/labeler.ts';
import { owners } from './formats/owners.ts';
import { safeSettings, settings } from './formats/settings.ts';

/** Every format that can be imported. */
export const formats: readonly Format[] = [labeler, codeowners, owners, settings, safeSettings];
