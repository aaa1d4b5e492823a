import {
  editEnvText,
  mergeEnvironments,
  readEnvFile,
  writePrivateFile
} from "./chunk-ZJOZMDT2.mjs";
import "./chunk-KZNQZHIP.mjs";
export {
  editEnvText,
  mergeEnvironments,
  readEnvFile,
  writePrivateFile
};
