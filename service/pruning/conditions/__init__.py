"""Single conditions: may they be moved, rendered and evaluated elsewhere?

Input: one expression. Output: a fact about it (it is safe to render, it is uncorrelated, it rejects NULLs) or
the expression in another form (renamed, with the current date filled in). The room knows neither tables nor
joins beyond what the expression says, and it imports only the model.
"""
