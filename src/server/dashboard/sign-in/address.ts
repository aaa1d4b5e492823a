/** Where the forge sends people back to after they signed in, below the dashboard’s address. */
export const signInPath = '/sign-in/callback';

/** Returns the address people come back to. */
export function redirectUri(dashboard: string): string {
  return `${dashboard.replace(/\/+$/, '')}${signInPath}`;
}
