-- Decisions of several people: what silence means, a changed mind, an edited request that asks again, wrong codes.

-- What nobody's answer means to the customer: no, or a person. Nothing is ever done.
alter table approvals add column on_expiry text not null default 'refuse' check (on_expiry in ('refuse', 'handOff'));

-- Whoever has said yes while others were still being asked may yet say no. The second yes of the same owner is no second yes.
drop index approval_decisions_once;
create unique index approval_decisions_once on approval_decisions (tenant_id, approval_id, approver, decision)
  where decision in ('approve', 'reject');
create index approval_decisions_of_approval on approval_decisions (approval_id);

-- One request follows another, and each is followed by one at most.
create unique index approvals_replaced_once on approvals (tenant_id, replaces_id) where replaces_id is not null;

-- A code may come back into use; which is meant is asked of the newest.
create index approvals_by_ref on approvals (tenant_id, ref, asked_at desc);

-- Wrong codes are counted by who sends them.
create index audit_of_wrong_codes on audit (tenant_id, actor, happened_at) where event = 'approval_code_refused';

-- The web chat in which an owner wrote last is where they are written to.
create index inbox_of_owners on inbox (tenant_id, speaker, received_at desc) where speaker like 'owner:%';
