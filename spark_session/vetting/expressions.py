"""Decisions on the expressions of analyzed queries: functions, operators, and what Spark adds to them.

Names are those of Spark's classes. A function of Spark is decided by its name, in `functions.py`. This table
also covers what a view's text or a function of a catalog becomes. Any other expression is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from spark_session.vetting.decision import Decision, Ruling, allowed, names_with, refused, table_of

EXPRESSIONS: Mapping[str, Decision] = table_of(
    (
        allowed(
            "Calculates a value, as an operator or a function of Spark.",
            "Abs Acos Acosh Add AddMonths AesDecrypt AesEncrypt AggregateExpression Alias And AnyValue "
            "ApplyFunctionExpression ApproxCountDistinctForIntervals ApproxTopK ApproxTopKAccumulate "
            "ApproxTopKCombine ApproxTopKEstimate ApproximatePercentile ArrayAggregate ArrayAppend "
            "ArrayBinarySearch ArrayCompact ArrayContains ArrayDistinct ArrayExcept ArrayExists "
            "ArrayFilter ArrayForAll ArrayInsert ArrayIntersect ArrayJoin ArrayMax ArrayMin ArrayPosition "
            "ArrayPrepend ArrayRemove ArrayRepeat ArraySize ArraySort ArrayTransform ArrayUnion "
            "ArraysOverlap ArraysZip Ascii Asin Asinh AssertNotNull AssertTrue AtLeastNNonNulls Atan "
            "Atan2 Atanh AttributeReference Average BRound Base64 Between Bin BinaryPad BinaryPredicate "
            "BitAndAgg BitLength BitOrAgg BitXorAgg BitmapAndAgg BitmapBitPosition BitmapBucketNumber "
            "BitmapConstructAgg BitmapCount BitmapOrAgg BitwiseAnd BitwiseCount BitwiseGet BitwiseNot "
            "BitwiseOr BitwiseXor BloomFilterAggregate BloomFilterMightContain BoolAnd BoolOr Bucket "
            "CaseWhen Cast CastTimestampNTZToLong Cbrt Ceil CheckOverflow CheckOverflowInSum Chr Coalesce "
            "Collate Collation CollationAwareMurmur3Hash CollationAwareXxHash64 CollationKey Collations "
            "CollectList CollectSet CollectTopK CommonExpressionDef CommonExpressionRef Concat ConcatWs "
            "Contains Conv ConvertTimezone Corr Cos Cosh Cot Count CountIf CountMinSketchAgg "
            "CovPopulation CovSample Crc32 CreateArray CreateMap CreateNamedStruct Csc CsvToStructs Cube "
            "CumeDist CurrentCatalog CurrentDatabase CurrentDate CurrentRow CurrentTime CurrentTimeZone "
            "CurrentTimestamp CurrentUser DateAdd DateAddInterval DateAddYMInterval DateDiff "
            "DateFormatClass DateFromUnixDate DateSub DatetimeSub DayName DayOfMonth DayOfWeek DayOfYear "
            "Days DecimalAddNoOverflowCheck DecimalDivideWithOverflowCheck Decode DenseRank Divide "
            "DivideDTInterval DivideInterval DivideYMInterval DropField DynamicPruningExpression "
            "DynamicPruningSubquery EWM ElementAt Elt Empty2Null Encode EndsWith EqualNull EqualNullSafe "
            "EqualTo EulerNumber Exists Exp Explode Expm1 ExpressionProxy "
            "ExpressionWithUnresolvedIdentifier Extract ExtractANSIIntervalDays ExtractANSIIntervalHours "
            "ExtractANSIIntervalMinutes ExtractANSIIntervalMonths ExtractANSIIntervalSeconds "
            "ExtractANSIIntervalYears ExtractIntervalDays ExtractIntervalHours ExtractIntervalMinutes "
            "ExtractIntervalMonths ExtractIntervalSeconds ExtractIntervalYears Factorial FindInSet First "
            "Flatten Floor FormatNumber FormatString FromUTCTimestamp FromUnixTime "
            "FunctionTableSubqueryArgumentExpression GeneratorOuter Get GetArrayItem GetArrayStructFields "
            "GetColumnByOrdinal GetJsonObject GetMapValue GetStructField GetTimestamp "
            "GetViewColumnByNameAndOrdinal GreaterThan GreaterThanOrEqual Greatest Grouping GroupingID "
            "GroupingSets Hex HistogramNumeric HiveHash HllSketchAgg HllSketchEstimate HllUnion "
            "HllUnionAgg Hour Hours HoursOfTime HyperLogLogPlusPlus Hypot ILike If In InSet InSubquery "
            "InitCap Inline IntegralDivide Invoke IsNaN IsNotNull IsNull IsValidUTF8 IsVariantNull "
            "JsonObjectKeys JsonToStructs JsonTuple KllMergeAggBigint KllMergeAggDouble KllMergeAggFloat "
            "KllSketchAggBigint KllSketchAggDouble KllSketchAggFloat KllSketchGetNBigint "
            "KllSketchGetNDouble KllSketchGetNFloat KllSketchGetQuantileBigint KllSketchGetQuantileDouble "
            "KllSketchGetQuantileFloat KllSketchGetRankBigint KllSketchGetRankDouble "
            "KllSketchGetRankFloat KllSketchMergeBigint KllSketchMergeDouble KllSketchMergeFloat "
            "KllSketchToStringBigint KllSketchToStringDouble KllSketchToStringFloat "
            "KnownFloatingPointNormalized KnownNotContainsNull KnownNotNull KnownNullable Kurtosis Lag "
            "LambdaFunction Last LastDay LateralColumnAliasReference LateralSubquery LazyExpression Lead "
            "Least Left Length LengthOfJsonArray LessThan LessThanOrEqual Levenshtein Like LikeAll "
            "LikeAny ListAgg ListQuery Literal LocalTimestamp Log Log10 Log1p Log2 Logarithm Lower "
            "Luhncheck MakeDTInterval MakeDate MakeDecimal MakeInterval MakeTime MakeTimestamp "
            "MakeTimestampFromDateTime MakeTimestampNTZ MakeValidUTF8 MakeYMInterval MapConcat "
            "MapContainsKey MapEntries MapFilter MapFromArrays MapFromEntries MapKeys MapSort MapValues "
            "MapZipWith Mask Max MaxBy Md5 Median MicrosToTimestamp MillisToTimestamp Min MinBy Minute "
            "MinutesOfTime Mode MonotonicallyIncreasingID Month MonthName Months MonthsBetween MultiAlias "
            "MultiCommutativeOp Multiply MultiplyDTInterval MultiplyInterval MultiplyYMInterval "
            "Murmur3Hash NTile NaNvl NamePlaceholder NamedArgumentExpression NamedLambdaVariable "
            "NamedParameter NextDay NoOp NormalizeNaNAndZero Not NotLikeAll NotLikeAny Now NthValue "
            "NullIf NullIfZero NullIndex Nvl Nvl2 OctetLength Or OuterReference OuterScopeReference "
            "Overlay PandasCovar PandasKurtosis PandasMode PandasProduct PandasSkewness PandasStddev "
            "PandasVariance ParseJson ParseToDate ParseToTimestamp ParseUrl PercentRank Percentile "
            "PercentileCont PercentileDisc Pi PipeExpression PivotFirst Pmod PosExplode PosParameter Pow "
            "PreciseTimestampConversion PrettyAttribute Product Quarter Quote RLike RaiseError Rand "
            "RandStr Randn Rank RegExpCount RegExpExtract RegExpExtractAll RegExpInStr RegExpReplace "
            "RegExpSubStr RegrAvgX RegrAvgY RegrCount RegrIntercept RegrR2 RegrReplacement RegrSXX "
            "RegrSXY RegrSYY RegrSlope Remainder ReplicateRows ResolvedCollation ResolvedStar Reverse "
            "Right Rint Rollup Round RoundCeil RoundFloor RowNumber SQLKeywords ST_AsBinary "
            "ST_GeogFromWKB ST_GeomFromWKB ST_SetSrid ST_Srid ScalarSubquery ScalarSubqueryReference "
            "SchemaOfCsv SchemaOfJson SchemaOfVariant SchemaOfVariantAgg Sec Second SecondWithFraction "
            "SecondsOfTime SecondsOfTimeWithFraction SecondsToTimestamp SemiStructuredExtract Sentences "
            "Sequence SessionWindow Sha1 Sha2 ShiftLeft ShiftRight ShiftRightUnsigned Shuffle Signum Sin "
            "Sinh Size Skewness Slice SortArray SortOrder SoundEx SparkPartitionID SparkVersion "
            "SpecifiedWindowFrame SplitPart Sqrt Stack StartsWith StaticInvoke StddevPop StddevSamp "
            "StringDecode StringInstr StringLPad StringLocate StringRPad StringRepeat StringReplace "
            "StringSpace StringSplit StringSplitSQL StringToMap StringTranslate StringTrim StringTrimBoth "
            "StringTrimLeft StringTrimRight StructsToCsv StructsToJson StructsToXml Substring "
            "SubstringIndex Subtract SubtractDates SubtractTimes SubtractTimestamps Sum Tan Tanh "
            "TempResolvedColumn ThetaDifference ThetaIntersection ThetaIntersectionAgg ThetaSketchAgg "
            "ThetaSketchEstimate ThetaUnion ThetaUnionAgg TimeAddInterval TimeDiff TimeTrunc TimeWindow "
            "TimestampAdd TimestampAddInterval TimestampAddYMInterval TimestampDiff ToBinary ToCharacter "
            "ToDegrees ToJavaArray ToNumber ToPrettyString ToRadians ToTime ToUTCTimestamp "
            "ToUnixTimestamp ToVariantObject TransformExpression TransformKeys TransformValues TruncDate "
            "TruncTimestamp TryAdd TryAesDecrypt TryDivide TryElementAt TryEval TryMakeInterval "
            "TryMakeTimestamp TryMakeTimestampFromDateTime TryMod TryMultiply TryParseUrl TrySubtract "
            "TryToBinary TryToNumber TryUrlDecode TryValidateUTF8 TypeOf TypedNullLiteral UnBase64 "
            "UnaryMinus UnaryPositive UnboundedFollowing UnboundedPreceding Unhex Uniform UnixDate "
            "UnixMicros UnixMillis UnixSeconds UnixTimestamp UnscaledValue UnspecifiedFrame UnwrapUDT "
            "UpCast UpdateFields Upper UrlDecode UrlEncode Uuid ValidateUTF8 VariancePop VarianceSamp "
            "VariantExplode VariantGet WeekDay WeekOfYear WidthBucket WindowExpression "
            "WindowSpecDefinition WindowTime With WithField XPathBoolean XPathDouble XPathFloat XPathInt "
            "XPathList XPathLong XPathShort XPathString XxHash64 Year YearOfWeek Years ZeroIfNull ZipWith",
        ),
        refused(
            "Runs code that is not Spark's own.",
            "CallMethodViaReflection CatalystToExternalMap ComplexTypedAggregateExpression "
            "CreateExternalRow DecodeUsingSerializer EncodeUsingSerializer ExternalMapToCatalyst "
            "GetExternalRowField HiveGenericUDF HiveGenericUDTF HiveSimpleUDF HiveUDAFFunction "
            "InitializeJavaBean LambdaVariable MapObjects NewInstance PrettyPythonUDF PythonUDAF "
            "PythonUDF PythonUDTF ScalaAggregator ScalaUDAF ScalaUDF SimpleTypedAggregateExpression "
            "TryReflect UnresolvedCatalystToExternalMap UnresolvedMapObjects "
            "UnresolvedPolymorphicPythonUDTF UnwrapOption UserDefinedGenerator V2Aggregator "
            "ValidateExternalType WrapOption",
        ),
        refused(
            "Holds the text of a function that was created in a catalog.",
            "SQLFunctionExpression SQLScalarFunction",
        ),
        refused(
            "Opens the file or address that its options name as a schema.",
            "FromAvro FromProtobuf SchemaOfAvro SchemaOfXml ToAvro ToProtobuf XmlToStructs",
        ),
        refused(
            "Shows where data files lie.",
            "InputFileBlockLength InputFileBlockStart InputFileName",
        ),
        refused(
            "Writes to the engine's log or its standard error.",
            "PrintToStderr",
        ),
        refused(
            "Reads a variable of the session.",
            "VariableReference",
        ),
        refused(
            "Belongs to statements that write or create.",
            "AlterColumnSpec Assignment CheckConstraint CheckInvariant CheckOverflowInTableInsert "
            "ColumnDefinition DefaultValueExpression DeleteAction Discard ForeignKeyConstraint "
            "InsertAction InsertStarAction Keep OptionList PrimaryKeyConstraint QualifiedColType "
            "ResolvedFieldName ResolvedFieldPosition ResolvedPartitionSpec Split UniqueConstraint "
            "UnresolvedFieldName UnresolvedFieldPosition UnresolvedPartitionSpec UnresolvedTableSpec "
            "UpdateAction UpdateStarAction",
        ),
        refused(
            "Belongs to running plans, or to programs that build plans.",
            "BoundReference CoalescedHashPartitioning CollectFrequentItems ColumnNodeExpression "
            "CurrentBatchTimestamp DirectShufflePartitionID DistributedSequenceID HashPartitioning "
            "InSubqueryExec KeyGroupedPartitioning PartitioningCollection RangePartitioning "
            "ScalarCastHelper ShufflePartitionIdPassThrough SortPrefix",
        ),
        refused(
            "Is not resolved. An analyzed query has none.",
            "UnresolvedAlias UnresolvedAttribute UnresolvedCollation UnresolvedDataFrameStar "
            "UnresolvedDeserializer UnresolvedExistsPlanId UnresolvedExtractValue UnresolvedFunction "
            "UnresolvedGenerator UnresolvedInSubqueryPlanId UnresolvedNamedLambdaVariable "
            "UnresolvedOrdinal UnresolvedPipeAggregateOrdinal UnresolvedRegex "
            "UnresolvedScalarSubqueryPlanId UnresolvedSeed UnresolvedStar UnresolvedStarExceptOrReplace "
            "UnresolvedStarWithColumns UnresolvedStarWithColumnsRenames UnresolvedTableArgPlanId "
            "UnresolvedWindowExpression UnresolvedWithinGroup",
        ),
    )
)

CALCULATING = names_with(EXPRESSIONS, Ruling.ALLOWED)

# `StaticInvoke`, `Invoke` and `ApplyFunctionExpression` call a method of a class. Spark's functions call
# Spark's own classes, and Iceberg's functions call Iceberg's.
CALLED_CLASSES = ("org.apache.spark.sql.", "org.apache.iceberg.spark.functions.")
