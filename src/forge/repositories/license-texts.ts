// This module is loaded on demand, because the texts take 300 kB.
import l0BSD from 'spdx-license-list/licenses/0BSD.json' with { type: 'json' };
import lAGPL_3_0 from 'spdx-license-list/licenses/AGPL-3.0-only.json' with { type: 'json' };
import lApache_2_0 from 'spdx-license-list/licenses/Apache-2.0.json' with { type: 'json' };
import lBSD_2_Clause from 'spdx-license-list/licenses/BSD-2-Clause.json' with { type: 'json' };
import lBSD_3_Clause from 'spdx-license-list/licenses/BSD-3-Clause.json' with { type: 'json' };
import lBSD_3_Clause_Clear from 'spdx-license-list/licenses/BSD-3-Clause-Clear.json' with { type: 'json' };
import lBSL_1_0 from 'spdx-license-list/licenses/BSL-1.0.json' with { type: 'json' };
import lCC_BY_4_0 from 'spdx-license-list/licenses/CC-BY-4.0.json' with { type: 'json' };
import lCC_BY_SA_4_0 from 'spdx-license-list/licenses/CC-BY-SA-4.0.json' with { type: 'json' };
import lCC0_1_0 from 'spdx-license-list/licenses/CC0-1.0.json' with { type: 'json' };
import lEPL_1_0 from 'spdx-license-list/licenses/EPL-1.0.json' with { type: 'json' };
import lEPL_2_0 from 'spdx-license-list/licenses/EPL-2.0.json' with { type: 'json' };
import lEUPL_1_2 from 'spdx-license-list/licenses/EUPL-1.2.json' with { type: 'json' };
import lGPL_2_0 from 'spdx-license-list/licenses/GPL-2.0-only.json' with { type: 'json' };
import lGPL_3_0 from 'spdx-license-list/licenses/GPL-3.0-only.json' with { type: 'json' };
import lISC from 'spdx-license-list/licenses/ISC.json' with { type: 'json' };
import lLGPL_2_1 from 'spdx-license-list/licenses/LGPL-2.1-only.json' with { type: 'json' };
import lLGPL_3_0 from 'spdx-license-list/licenses/LGPL-3.0-only.json' with { type: 'json' };
import lMIT from 'spdx-license-list/licenses/MIT.json' with { type: 'json' };
import lMIT_0 from 'spdx-license-list/licenses/MIT-0.json' with { type: 'json' };
import lMPL_2_0 from 'spdx-license-list/licenses/MPL-2.0.json' with { type: 'json' };
import lMulanPSL_2_0 from 'spdx-license-list/licenses/MulanPSL-2.0.json' with { type: 'json' };
import lOFL_1_1 from 'spdx-license-list/licenses/OFL-1.1.json' with { type: 'json' };
import lOSL_3_0 from 'spdx-license-list/licenses/OSL-3.0.json' with { type: 'json' };
import lUnlicense from 'spdx-license-list/licenses/Unlicense.json' with { type: 'json' };
import lUPL_1_0 from 'spdx-license-list/licenses/UPL-1.0.json' with { type: 'json' };
import lWTFPL from 'spdx-license-list/licenses/WTFPL.json' with { type: 'json' };
import lZlib from 'spdx-license-list/licenses/Zlib.json' with { type: 'json' };

const texts: Readonly<Record<string, { readonly licenseText: string }>> = {
  '0BSD': l0BSD,
  'AGPL-3.0': lAGPL_3_0,
  'Apache-2.0': lApache_2_0,
  'BSD-2-Clause': lBSD_2_Clause,
  'BSD-3-Clause': lBSD_3_Clause,
  'BSD-3-Clause-Clear': lBSD_3_Clause_Clear,
  'BSL-1.0': lBSL_1_0,
  'CC-BY-4.0': lCC_BY_4_0,
  'CC-BY-SA-4.0': lCC_BY_SA_4_0,
  'CC0-1.0': lCC0_1_0,
  'EPL-1.0': lEPL_1_0,
  'EPL-2.0': lEPL_2_0,
  'EUPL-1.2': lEUPL_1_2,
  'GPL-2.0': lGPL_2_0,
  'GPL-3.0': lGPL_3_0,
  ISC: lISC,
  'LGPL-2.1': lLGPL_2_1,
  'LGPL-3.0': lLGPL_3_0,
  MIT: lMIT,
  'MIT-0': lMIT_0,
  'MPL-2.0': lMPL_2_0,
  'MulanPSL-2.0': lMulanPSL_2_0,
  'OFL-1.1': lOFL_1_1,
  'OSL-3.0': lOSL_3_0,
  'UPL-1.0': lUPL_1_0,
  Unlicense: lUnlicense,
  WTFPL: lWTFPL,
  Zlib: lZlib,
};

/** Returns the SPDX text of a licence, with its placeholders; undefined for an unknown name. */
export function licenseText(name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name]?.licenseText : undefined;
}
