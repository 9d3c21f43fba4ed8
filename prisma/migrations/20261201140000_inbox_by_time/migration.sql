-- The account of all messages, the newest first: without it the console sorts the tenant's whole inbox for one page.
create index inbox_by_time on inbox (tenant_id, received_at desc, id);
