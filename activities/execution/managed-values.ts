// Arguments that the runtime fills (spec A5, check 9): who and where, from verified identity, never from a model.
import { MANAGED_FIELDS, type ManagedField } from '../../config/schema/managed-fields.js';
import type { TurnRow } from '../../prisma/stores/turns.js';
import type { JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import type { Tenant } from '../tenants.js';

export function managedValues(tool: ToolDefinition, tenant: Tenant, turn: TurnRow): JsonObject {
  const values: Record<ManagedField, string> = {
    tenant_id: tenant.tenantId,
    chat_id: turn.chatId,
    contact_id: turn.contactId,
    time_zone: tenant.configuration.business.timeZone,
    language: tenant.configuration.business.language,
  };
  return Object.fromEntries(
    MANAGED_FIELDS.filter((field) => tool.managedFields.includes(field)).map((field) => [
      field,
      values[field],
    ]),
  );
}
