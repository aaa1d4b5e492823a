/**
 * How long a delivery is worked on, and how old the comment or review may be that a delivery announces as new: by default
 * seven days.
 */
export const standardDeliveryLifetimeMs = 7 * 86_400_000;
