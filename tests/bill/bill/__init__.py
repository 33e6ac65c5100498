"""What a crawl through the deployed stack costs at AWS's list prices. docs/measurements/bill.md says how to run it and what came out.

A crawl (`sites`, `shapes`) runs through a stack on an emulator (`deployment`); what its functions logged is read (`invocations`) and summed
(`usage`); the rest is arithmetic over `prices`: the `bill`, what the `standing` costs of a stack are, and what a `naive` crawler would cost.
"""
