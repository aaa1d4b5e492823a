import {
  editEnvText,
  mergeEnvironments,
  readEnvFile,
  writePrivateFile
} from "./chunk-5JV5H4GN.mjs";
import "./chunk-2KGDF53E.mjs";
export {
  editEnvText,
  mergeEnvironments,
  readEnvFile,
  writePrivateFile
};
