/** What is configured for the whole instance, where the baseline has a setting for it. */
export type Features = {
  /** Issues may wait for those of other repositories. */
  readonly crossRepositoryDependencies: boolean;
  /** Files may be attached to issues and comments. */
  readonly attachments: boolean;
  /** Mirrors and migrations reach hosts in local networks, this machine included. */
  readonly localMirrors: boolean;
};

/** The baseline's defaults. */
export const defaultFeatures: Features = {
  crossRepositoryDependencies: true,
  attachments: true,
  localMirrors: false,
};
