/** What the app may do and hears: the manifest, `doctor` and the code go by these two lists. */
export const SCOPES = [
  "app_mentions:read",
  "channels:history",
  "chat:write",
  "files:read",
  "files:write",
  "groups:history",
  "im:history",
  "mpim:history",
  "users:read",
] as const;

export const EVENTS = ["app_mention", "message.channels", "message.groups", "message.im", "message.mpim"] as const;

/** The manifest to paste into the app's pages. The app-level token (`connections:write`) is made there by hand. */
export function slackManifest(): Record<string, unknown> {
  return {
    display_information: {
      name: "Deckhand",
      description: "Runs real commands in your workspace, and asks before the risky ones",
    },
    features: {
      bot_user: { display_name: "Deckhand", always_online: true },
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
    },
    oauth_config: { scopes: { bot: [...SCOPES] } },
    settings: {
      event_subscriptions: { bot_events: [...EVENTS] },
      interactivity: { is_enabled: true },
      org_deploy_enabled: false,
      socket_mode_enabled: true,
      token_rotation_enabled: false,
    },
  };
}
