"""What may be pruned, by which keys, and how the query says it. Pure: trees and model types only."""
