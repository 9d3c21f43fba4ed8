// The arguments that the runtime can fill. A tool that asks for another one is refused at load: nobody would fill it.

export const MANAGED_FIELDS = ['tenant_id', 'chat_id', 'contact_id', 'time_zone', 'language'] as const;
export type ManagedField = (typeof MANAGED_FIELDS)[number];
