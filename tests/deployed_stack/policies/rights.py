"""Tables: what functions do that a run of the scenario need not show, and what they must not do. Resources have short names."""

from __future__ import annotations

from roles import FUNCTIONS

SELDOM = [
    # function, action, resource, why it is needed, and why it is seldom
    ("Scheduler", "dynamodb:Query", "frontier", "todo of an origin that is closed with leftovers, when a repeated command settles one"),
    ("Scheduler", "dynamodb:BatchWriteItem", "frontier", "the same todo is deleted"),
    ("Scheduler", "dynamodb:ConditionCheckItem", "frontier", "a repeated command settles an origin whose inbox stays as it is"),
    ("Scheduler", "dynamodb:UpdateItem", "frontier", "a URL joins an origin that is open"),
    ("Scheduler", "dynamodb:Query", "log", "a crawl is pruned: what refers to an old iteration is looked for"),
    ("Scheduler", "dynamodb:BatchWriteItem", "log", "nothing refers to a segment of it, so its log is deleted"),
    ("Scheduler", "dynamodb:BatchWriteItem", "crawls", "what a pruned iteration left over is deleted"),
    ("Scheduler", "s3:DeleteObject", "body", "nothing refers to its bodies"),
    ("Scheduler", "s3:DeleteObject", "document", "nor to its documents"),
    ("Scheduler", "s3:GetObject", "document", "a document was made again, or its log is forgotten"),
    ("Scheduler", "s3:ListBucket", "bodies", "such a document may be missing"),
    ("Scheduler", "sqs:SendMessage", "Publications", "documents of an iteration are deleted, so its items are published again"),
    ("Crawler", "s3:ListBucket", "bodies", "orphans are looked for when a lease is taken over, which takes its holder's death"),
    ("Crawler", "s3:DeleteObject", "body", "an orphan is found"),
    ("Crawler", "dynamodb:PartiQLUpdate", "candidates", "candidates are due for recrawl, a day at the least after they were crawled"),
    ("Crawler", "dynamodb:BatchGetItem", "candidates", "as above, they are read before they are claimed"),
    ("Crawler", "dynamodb:BatchWriteItem", "frontier", "todo of an origin that ends with leftovers is deleted: stopped, or its budget is spent"),
    ("Crawler", "dynamodb:ConditionCheckItem", "frontier", "a lease is let go while the inbox stays as it is"),
    ("Searcher", "dynamodb:PartiQLUpdate", "candidates", "seeds that are candidates already are claimed for another iteration, where a call begins one"),
    ("Parser", "dynamodb:Query", "frontier", "todo of an origin that is closed with leftovers after its last parse"),
    ("Parser", "dynamodb:BatchWriteItem", "frontier", "the same todo is deleted"),
    ("Parser", "dynamodb:ConditionCheckItem", "frontier", "an origin is woken whose inbox stays as it is"),
    ("Parser", "sns:Publish", "Notices", "an origin joins, a capture is stuck, or an origin is closed with leftovers"),
    ("Publisher", "s3:DeleteObject", "item", "an iteration is published once more, after it was pruned or a message came twice"),
    ("Publisher", "s3:GetObject", "report", "a message came twice: whether there is a report"),
    ("Publisher", "s3:DeleteObject", "index", "an edition was superseded some time ago"),
    ("Searcher", "dynamodb:BatchWriteItem", "frontier", "todo of an origin that is closed with leftovers, when a repeated call settles one"),
    ("Searcher", "dynamodb:ConditionCheckItem", "frontier", "a repeated call settles an origin whose inbox stays as it is"),
    ("Searcher", "dynamodb:UpdateItem", "frontier", "a URL joins an origin that is open"),
    ("Searcher", "dynamodb:DeleteItem", "crawls", "a start is skipped, as another iteration runs, and people were told"),
    ("Searcher", "sqs:SendMessage", "Commands", "there are more seeds than can be added while the caller waits"),
    ("Sweeper", "dynamodb:BatchGetItem", "frontier", "something is overdue, after a minute at the least"),
    ("Sweeper", "dynamodb:UpdateItem", "frontier", "what is overdue is put off, or an origin is settled"),
    ("Sweeper", "dynamodb:PutItem", "frontier", "an origin is settled or given up"),
    ("Sweeper", "dynamodb:PutItem", "crawls", "an origin is given up with leftovers"),
    ("Sweeper", "dynamodb:GetItem", "frontier", "the row of an overdue segment"),
    ("Sweeper", "dynamodb:Query", "frontier", "todo of an origin that is given up"),
    ("Sweeper", "dynamodb:BatchWriteItem", "frontier", "the same todo is deleted"),
    ("Sweeper", "dynamodb:ConditionCheckItem", "frontier", "an origin is woken whose inbox stays as it is"),
    ("Sweeper", "dynamodb:BatchGetItem", "crawls", "an origin is settled or given up"),
    ("Sweeper", "sqs:SendMessage", "Turns", "a ticket got lost"),
    ("Sweeper", "sqs:SendMessage", "Segments", "a segment's message got lost"),
    ("Sweeper", "sqs:SendMessage", "Commands", "a scheduler died while it seeded an iteration"),
]
"""Rights that are rarely needed: after hours, a crash, or a race."""

QUEUES = {"Scheduler": "Commands", "Crawler": "Turns", "Parser": "Segments", "Publisher": "Publications"}
"""What triggers each function."""

FOR_LAMBDA = [
    # function, action, resource: what Lambda does itself under a function's role
    *[
        (function, f"sqs:{action}", queue)
        for function, queue in QUEUES.items()
        for action in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
    ],
    *[(function, f"logs:{action}", function) for function in FUNCTIONS for action in ("CreateLogStream", "PutLogEvents")],
]

REFUSED = [
    # function, action, resource, why it must not
    ("Parser", "s3:PutObject", "body", "only who fetched a body may say what it was"),
    ("Parser", "s3:DeleteObject", "body", "bodies are kept"),
    ("Parser", "s3:DeleteObject", "document", "documents are put once"),
    ("Parser", "s3:GetObject", "robots", "who asks a site keeps its rules"),
    ("Parser", "s3:PutObject", "robots", "what a page says must not change a site's rules"),
    ("Parser", "sqs:SendMessage", "Commands", "a page must not give commands"),
    ("Parser", "sqs:SendMessage", "Segments", "segments are the crawler's to send"),
    ("Parser", "dynamodb:GetItem", "log", "the log is written, and read by people"),
    ("Parser", "dynamodb:PartiQLDelete", "candidates", "no URL is lost"),
    ("Parser", "dynamodb:DeleteItem", "frontier", "todo is the crawler's to finish"),
    ("Crawler", "s3:PutObject", "document", "documents are the parser's"),
    ("Crawler", "s3:GetObject", "document", "it has no use for them"),
    ("Crawler", "s3:DeleteObject", "document", "only orphans are deleted, and they are bodies"),
    ("Crawler", "s3:GetObject", "body", "what talks to the web cannot read what was crawled"),
    ("Crawler", "sqs:SendMessage", "Commands", "what talks to the web gives no commands"),
    ("Crawler", "dynamodb:PartiQLInsert", "candidates", "it fetches URLs, and finds none"),
    ("Crawler", "dynamodb:PutItem", "log", "the log is the parser's"),
    ("Crawler", "dynamodb:Query", "crawls/agenda", "it works one crawl's ticket"),
    ("Crawler", "secretsmanager:GetSecretValue", "others", "the parameter does not name it"),
    *[
        (function, "secretsmanager:GetSecretValue", "members", "it asks no site, so it has nothing to log in to")
        for function in FUNCTIONS
        if function != "Crawler"
    ],
    ("Scheduler", "s3:GetObject", "body", "it has no business in the archive"),
    ("Scheduler", "s3:PutObject", "document", "nor there"),
    ("Scheduler", "sqs:SendMessage", "Segments", "it crawls nothing"),
    ("Parser", "s3:PutObject", "item", "items are published from documents alone"),
    ("Publisher", "s3:GetObject", "body", "it makes everything from documents"),
    ("Publisher", "s3:PutObject", "document", "it reads documents, and changes none"),
    ("Publisher", "s3:DeleteObject", "document", "nor does it delete any"),
    ("Publisher", "dynamodb:PutItem", "crawls", "what is derived never acts on a crawl"),
    ("Publisher", "dynamodb:DeleteItem", "frontier", "nor there"),
    ("Publisher", "sqs:SendMessage", "Commands", "it gives no commands"),
    ("Publisher", "sqs:SendMessage", "Turns", "nor does it send anybody to a site"),
    ("Publisher", "s3:DeleteObject", "report", "reports are kept"),
    ("Searcher", "s3:GetObject", "robots", "it asks a site for its rules as they are now"),
    ("Searcher", "s3:PutObject", "body", "it reads bodies, and changes none"),
    ("Searcher", "s3:DeleteObject", "body", "nor does it delete any"),
    ("Searcher", "s3:PutObject", "index", "what is derived is the publisher's"),
    ("Searcher", "s3:DeleteObject", "index", "nor does it delete any"),
    ("Searcher", "s3:PutObject", "document", "it reads documents, and changes none"),
    ("Searcher", "s3:PutObject", "definition", "people put definitions there"),
    ("Searcher", "dynamodb:Scan", "crawls", "crawls are listed, and never looked for"),
    ("Searcher", "dynamodb:PutItem", "log", "the log is the parser's"),
    ("Searcher", "dynamodb:PartiQLDelete", "candidates", "no URL is lost"),
    ("Searcher", "sqs:SendMessage", "Segments", "segments are the crawler's to send"),
    ("Searcher", "sqs:SendMessage", "Publications", "nor has it anything to publish"),
    ("Sweeper", "s3:GetObject", "body", "it reads no bodies"),
    ("Sweeper", "s3:DeleteObject", "body", "it sweeps rows, and no objects"),
    ("Sweeper", "s3:ListBucket", "bodies", "it does not even know of them"),
    ("Sweeper", "dynamodb:GetItem", "candidates", "it never looks at single URLs"),
    ("Sweeper", "dynamodb:Scan", "frontier", "nor does it read whole tables"),
    *[
        (function, "sqs:ReceiveMessage", queue, "it would take a message from whom it is for")
        for function in FUNCTIONS
        for queue in QUEUES.values()
        if queue != QUEUES.get(function)
    ],
    *[(function, "dynamodb:DeleteTable", "crawls", "nothing that runs may undo the stack") for function in FUNCTIONS],
]
