-- The desk: who speaks, sessions, takeovers, operators, media, what the platform reports back; approvals that several people
-- decide, and that can be edited.

-- Who wrote a message, by verified identity only: `customer`, `owner:<id>`, `operator:<id>`, `business` (our own number, from
-- a phone), `platform`.
alter table inbox add column speaker text not null default 'customer';
-- What a message holds beside its text, as JSON: media, location, contacts, button payloads, referral, the raw message.
alter table inbox add column details_cipher bytea;
alter table inbox add column edited_at timestamptz;
alter table inbox add column revoked_at timestamptz;

-- Buttons, lists, templates, media of what goes out, as JSON.
alter table outbox add column details_cipher bytea;
-- The highest status that the platform has reported: sent < delivered < read < played; failed is final.
alter table outbox add column delivery_status text check (delivery_status in ('sent', 'delivered', 'read', 'played', 'failed'));
alter table outbox add column delivery_status_at timestamptz;
create index outbox_by_external_id on outbox (tenant_id, external_id) where external_id is not null;
create index outbox_by_content on outbox (chat_id, content_hmac) where content_hmac is not null;

-- A chat that a person has taken over: until when (null: until it is released), and who.
alter table chats add column paused_until timestamptz;
alter table chats add column paused_by text;
-- The last time the customer wrote: the platform's 24-hour window counts from here.
alter table chats add column customer_wrote_at timestamptz;

-- A conversation of a desk: grace, then the assistant, until it is resolved.
create table chat_sessions (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  state text not null check (state in ('waiting', 'active', 'resolved')),
  resolved_by text check (resolved_by in ('human', 'ai_timeout', 'timeout', 'manual')),
  opened_at timestamptz not null default now(),
  grace_until timestamptz not null,
  active_at timestamptz,
  resolved_at timestamptz,
  check ((state = 'resolved') = (resolved_at is not null)),
  check ((state = 'resolved') = (resolved_by is not null)),
  unique (tenant_id, id),
  foreign key (tenant_id, chat_id) references chats (tenant_id, id)
);
create unique index chat_sessions_open on chat_sessions (tenant_id, chat_id) where state <> 'resolved';
create index chat_sessions_recent on chat_sessions (tenant_id, opened_at desc);

-- A question to a person behind the desk; REF is what they quote.
create table operator_requests (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  contact_id uuid not null,
  turn_id uuid,
  step_id uuid,
  operator_id text not null,
  kind text not null check (kind in ('media', 'conversation')),
  ref text not null,
  state text not null default 'open' check (state in ('open', 'answered', 'expired', 'undeliverable', 'cancelled')),
  asked_at timestamptz not null default now(),
  remind_at timestamptz,
  reminded_at timestamptz,
  expires_at timestamptz not null,
  closed_at timestamptz,
  -- The operator's message that answered, and what the customer was told of it.
  answer_message_id uuid,
  answer_outbox_id uuid,
  check ((state = 'open') = (closed_at is null)),
  unique (tenant_id, id),
  foreign key (tenant_id, chat_id) references chats (tenant_id, id),
  foreign key (tenant_id, contact_id) references contacts (tenant_id, id),
  foreign key (tenant_id, turn_id) references turns (tenant_id, id),
  foreign key (tenant_id, step_id) references steps (tenant_id, id)
);
create unique index operator_requests_open_ref on operator_requests (tenant_id, ref) where state = 'open';
create index operator_requests_of_chat on operator_requests (chat_id) where state = 'open';

-- Media of a message, fetched from the platform, under the person's key.
create table media (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  message_id uuid not null,
  mime_type text,
  bytes int,
  sha256 text,
  content_cipher bytea,
  key_id uuid,
  state text not null check (state in ('remote', 'stored', 'failed')),
  code text,
  created_at timestamptz not null default now(),
  fetched_at timestamptz,
  unique (tenant_id, message_id),
  foreign key (tenant_id, chat_id) references chats (tenant_id, id),
  foreign key (tenant_id, message_id) references inbox (tenant_id, id)
);

-- What the platform said that is no message: statuses of messages, changes of the account, fields we don't know. Nothing that
-- was acknowledged is forgotten.
create table platform_events (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  account_id uuid not null,
  field text not null,
  kind text not null,
  -- Hash of the event: the same one twice is one row.
  digest bytea not null,
  -- Of a status: the message it is about, ours where we know it.
  external_id text,
  outbox_id uuid,
  code text,
  payload_cipher bytea,
  key_id uuid,
  happened_at timestamptz,
  received_at timestamptz not null default now(),
  unique (tenant_id, account_id, digest),
  foreign key (tenant_id, account_id) references channel_accounts (tenant_id, id)
);
create index platform_events_recent on platform_events (tenant_id, received_at desc);

-- Who may decide (owner ids; empty: every owner), how many have to say yes, and what silence means.
alter table approvals add column approvers text[] not null default '{}';
alter table approvals add column needed int not null default 1 check (needed between 1 and 5);
alter table approvals add column remind_at timestamptz;
alter table approvals add column reminded_at timestamptz;
-- An edited approval is over; the new one, with a code of its own, asks once more.
alter table approvals add column replaces_id uuid;
alter table approvals drop constraint approvals_state_check;
alter table approvals add constraint approvals_state_check
  check (state in ('open', 'approved', 'rejected', 'expired', 'used', 'edited'));
drop index approvals_of_step;
create unique index approvals_of_step on approvals (tenant_id, step_id) where state <> 'edited';

-- One row per owner and approval that says yes or no; the second yes of the same owner is no second yes.
create unique index approval_decisions_once on approval_decisions (tenant_id, approval_id, approver)
  where decision in ('approve', 'reject');

-- An effect of which nobody knows whether it happened is settled by its tool's own check or by a person, who names it by REF.
alter table steps add column ref text;
alter table steps add column settled_by text;
alter table steps add column settled_at timestamptz;
create unique index steps_ref on steps (tenant_id, ref) where ref is not null and state = 'unknown';

do $$
declare
  t text;
begin
  foreach t in array array['chat_sessions', 'operator_requests', 'media', 'platform_events']
  loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant_rows on %I using (tenant_id = aroko_tenant()) with check (tenant_id = aroko_tenant())', t);
    execute format('grant select on %I to aroko_app, aroko_read', t);
    execute format('grant insert, update on %I to aroko_app', t);
  end loop;
end $$;
